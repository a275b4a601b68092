// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Direct memory that successive runs reuse: a run gets the buffers that the run before has
 * allocated. The JVM zeroes new direct memory and the garbage collector frees it, which takes
 * longer than a run.
 */
public final class RecycledMemory {
  private static final int SMALLEST_LOG2 = 12;

  /** The initial contents of each buffer: not zero, like memory that was used before. */
  private static final byte[] CONTENTS = new byte[1 << 16];

  static {
    Arrays.fill(CONTENTS, (byte) 0xA5);
  }

  private final List<ArrayDeque<ByteBuffer>> free = new ArrayList<>();
  private final List<ByteBuffer> taken = new ArrayList<>();

  RecycledMemory() {
    for (int log2 = SMALLEST_LOG2; log2 < Integer.SIZE; log2++) {
      free.add(new ArrayDeque<>());
    }
  }

  /** Allocates memory until the end of the run. */
  public ByteBuffer allocate(int length) {
    int log2 =
        Math.max(
            SMALLEST_LOG2, Integer.SIZE - Integer.numberOfLeadingZeros(Math.max(1, length) - 1));
    ByteBuffer memory = free.get(log2 - SMALLEST_LOG2).poll();
    if (memory == null) {
      memory = ByteBuffer.allocateDirect(1 << log2);
    }
    taken.add(memory);
    for (int at = 0; at < length; at += CONTENTS.length) {
      memory.put(at, CONTENTS, 0, Math.min(CONTENTS.length, length - at));
    }
    return memory.slice(0, length);
  }

  /** Takes back all allocated buffers. */
  void recycle() {
    for (ByteBuffer memory : taken) {
      int log2 = Integer.numberOfTrailingZeros(memory.capacity());
      free.get(log2 - SMALLEST_LOG2).add(memory);
    }
    taken.clear();
  }
}
