// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.nio.ByteBuffer;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The pattern in the buffer of a posted receive, READ or atomic until its completion is polled:
 * eight bytes, chosen at random in each JVM, repeated. A copy of at least 15 successive bytes of
 * the pattern is recognized in any payload.
 */
final class Poison {
  private static final int PERIOD = Long.BYTES;
  private static final int CHUNK = 4096;

  private static final byte[] TEMPLATE = new byte[CHUNK + PERIOD];
  private static final long[] ROTATIONS = new long[PERIOD];

  static {
    byte[] bytes = new byte[PERIOD];
    for (int i = 0; i < PERIOD; i++) {
      // Not zero, and all different: memory hardly holds such bytes by chance.
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

  /** Returns whether these bytes are still as {@link #fill} left them. */
  static boolean fills(ByteBuffer memory, int offset, int length) {
    for (int done = 0; done < length; done += CHUNK) {
      int part = Math.min(CHUNK, length - done);
      if (memory.slice(offset + done, part).mismatch(ByteBuffer.wrap(TEMPLATE, 0, part)) >= 0) {
        return false;
      }
    }
    return true;
  }

  /** Restores the bytes from before {@link #fill}, except those that were written after it. */
  static void replace(ByteBuffer memory, int offset, byte[] original) {
    if (fills(memory, offset, original.length)) {
      memory.put(offset, original);
      return;
    }
    int from = 0;
    while (from < original.length) {
      // By aligned words, since programs mostly write whole words.
      int to = Math.min(original.length, from + PERIOD - (offset + from) % PERIOD);
      replaceWord(memory, offset, original, from, to);
      from = to;
    }
  }

  /**
   * Restores the poisoned bytes of a word, if at least half of the word is poison: a byte that the
   * program wrote may equal the poison by chance.
   */
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

  /** Returns whether a copy of poison is among these bytes. */
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
