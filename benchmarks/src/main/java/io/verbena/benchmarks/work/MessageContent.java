// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * The content of a message as a function of its sequence number: the number in the first word, a
 * mark in the last, another in a word between that moves from message to message, and a fixed
 * pattern in all others. A message that is lost, torn, repeated or stale differs in one of the
 * marks.
 */
final class MessageContent {
  static final int WORD = Long.BYTES;
  static final int SMALLEST = 8 * WORD;

  private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;
  private static final long TAIL = 0x5EED_0F7A_11ED_0001L;
  private static final long MIDDLE = 0x5EED_0F4D_1DD1_E002L;
  private static final long PATTERN = 0xA5A5_5A5A_C3C3_3C3CL;

  private MessageContent() {}

  static int checkSize(int size) {
    if (size < SMALLEST || size % WORD != 0) {
      throw new IllegalArgumentException(
          "size: " + size + " (expected: >= " + SMALLEST + " and a multiple of " + WORD + ")");
    }
    return size;
  }

  static long tail(long sequence) {
    return (sequence + TAIL) * GOLDEN;
  }

  static long middle(long sequence) {
    return (sequence + MIDDLE) * GOLDEN;
  }

  /** Returns the index in bytes of the moving mark: never the first or the last word. */
  static int middleIndex(long sequence, int size) {
    return spread(sequence, size);
  }

  /** Returns the index in bytes of the {@code n}th word that is compared with the pattern. */
  static int sampleIndex(long sequence, int n, int size) {
    return spread(sequence + ((long) (n + 1) << 40), size);
  }

  static long pattern(int index) {
    return index * GOLDEN ^ PATTERN;
  }

  /** Returns the word at {@code index} of message {@code sequence}. */
  static long word(long sequence, int index, int size) {
    if (index == 0) {
      return sequence;
    }
    if (index == size - WORD) {
      return tail(sequence);
    }
    return index == middleIndex(sequence, size) ? middle(sequence) : pattern(index);
  }

  private static int spread(long value, int size) {
    long inner = size / WORD - 2L;
    long hash = (value * GOLDEN) >>> 32;
    return (1 + (int) ((hash * inner) >>> 32)) * WORD;
  }
}
