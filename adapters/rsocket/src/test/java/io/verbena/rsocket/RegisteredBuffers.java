// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.netty.buffer.ByteBuf;
import io.verbena.MemoryLimitException;
import io.verbena.RdmaMemory;
import java.util.ArrayList;
import java.util.List;

/** Registered memory that a test occupies, so that none is left for others. */
final class RegisteredBuffers {
  private static final int LONGEST = 1 << 20;
  private static final int SHORTEST = 256;

  private final List<ByteBuf> buffers = new ArrayList<>();

  private RegisteredBuffers() {}

  /** Takes all registered memory that is left. */
  static RegisteredBuffers all(RdmaMemory memory) {
    RegisteredBuffers all = new RegisteredBuffers();
    for (int length = LONGEST; length >= SHORTEST; length >>= 1) {
      boolean full = false;
      while (!full) {
        full = !all.take(memory, length);
      }
    }
    return all;
  }

  private boolean take(RdmaMemory memory, int length) {
    try {
      buffers.add(memory.allocator().directBuffer(length));
      return true;
    } catch (MemoryLimitException full) {
      return false;
    }
  }

  void release() {
    buffers.forEach(ByteBuf::release);
    buffers.clear();
  }
}
