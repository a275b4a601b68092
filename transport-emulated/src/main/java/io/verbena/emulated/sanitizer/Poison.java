// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What the buffer of a posted receive, READ or atomic shows until its completion was polled: eight
 * bytes, chosen anew in each JVM, over and over. They are found again wherever at least 15 of them
 * in a row were copied to.
 */
final class Poison {
  private static final int PERIOD = Long.BYTES;
  private static final int CHUNK = 4096;

  private static final byte[] TEMPLATE = new byte[CHUNK + PERIOD];
  private static final long[] ROTATIONS = new long[PERIOD];

  static {
    byte[] bytes = new byte[PERIOD];
    for (int i = 0; i < PERIOD; i++) {
      // No zero, and none twice in a row: nothing that memory holds by itself.
      bytes[i] = (byte) (0xa0 + 8 * i + ThreadLocalRandom.current().nextInt(8));
    }
    for (int i = 0; i < TEMPLATE.length; i++) {
      TEMPLATE[i] = bytes[i % PERIOD];
    }
    for (int i = 0; i < PERIOD; i++) {
      ROTATIONS[i] = ByteBuffer.wrap(TEMPLATE).getLong(i);
    }
  }

  private static volatile boolean used;

  private Poison() {}

  /** Fills {@code length} bytes from {@code offset} on. */
  static void fill(ByteBuffer memory, int offset, int length) {
    used = true;
    for (int done = 0; done < length; done += CHUNK) {
      memory.put(offset + done, TEMPLATE, 0, Math.min(CHUNK, length - done));
    }
  }

  /** Whether these bytes are still as {@link #fill} left them. */
  static boolean fills(ByteBuffer memory, int offset, int length) {
    for (int done = 0; done < length; done += CHUNK) {
      int part = Math.min(CHUNK, length - done);
      if (memory.slice(offset + done, part).mismatch(ByteBuffer.wrap(TEMPLATE, 0, part)) >= 0) {
        return false;
      }
    }
    return true;
  }

  /** Puts back what was there before {@link #fill}, but for what was written since. */
  static void replace(ByteBuffer memory, int offset, byte[] original) {
    if (fills(memory, offset, original.length)) {
      memory.put(offset, original);
      return;
    }
    int from = 0;
    while (from < original.length) {
      // Words as they lie in memory: what a program writes is mostly one, or many.
      int to = Math.min(original.length, from + PERIOD - (offset + from) % PERIOD);
      replaceWord(memory, offset, original, from, to);
      from = to;
    }
  }

  /** A byte that was written equals poison once in a while; it is known by its neighbours. */
  private static void replaceWord(
      ByteBuffer memory, int offset, byte[] original, int from, int to) {
    int same = 0;
    for (int i = from; i < to; i++) {
      same += memory.get(offset + i) == TEMPLATE[i % PERIOD] ? 1 : 0;
    }
    for (int i = from; i < to && 2 * same >= to - from; i++) {
      if (memory.get(offset + i) == TEMPLATE[i % PERIOD]) {
        memory.put(offset + i, original[i]);
      }
    }
  }

  /** Whether a copy of poison is among these bytes. */
  static boolean isIn(ByteBuffer memory, int offset, int length) {
    if (!used) {
      return false;
    }
    ByteBuffer bytes = memory.slice(offset, length);
    for (int i = 0; i + Long.BYTES <= length; i += Long.BYTES) {
      long word = bytes.getLong(i);
      for (long rotation : ROTATIONS) {
        if (word == rotation) {
          return true;
        }
      }
    }
    return false;
  }
}
