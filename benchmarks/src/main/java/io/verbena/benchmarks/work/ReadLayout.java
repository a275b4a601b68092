// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * The remote memory of the one-sided workloads: {@code slots} pieces of {@code size} bytes, each
 * with contents of its own, so that a read that did not happen is seen.
 *
 * @param size bytes of a read
 * @param slots number of pieces; odd, so that a power of two of local buffers meets new contents at
 *     each read
 */
public record ReadLayout(int size, int slots) {
  /** The size of the last cache of the machines at hand: there memcpy reaches what is on record. */
  private static final int REMOTE_BYTES = 32 << 20;

  public ReadLayout {
    MessageContent.checkSize(size);
    if (slots < 3 || slots % 2 == 0) {
      throw new IllegalArgumentException("slots: " + slots + " (expected: odd and >= 3)");
    }
  }

  /**
   * The layout for reads of {@code size} bytes: memory beyond the caches that a CPU has to itself.
   */
  public static ReadLayout of(int size) {
    return new ReadLayout(size, Math.max(3, REMOTE_BYTES / size - 1));
  }

  /** Bytes of the remote memory. */
  public int bytes() {
    return Math.multiplyExact(size, slots);
  }

  /** Returns where slot {@code slot} starts in the remote memory. */
  public int offset(int slot) {
    return slot * size;
  }

  /** Writes the contents of slot {@code slot} through a view of it. */
  public void fill(int slot, MessageView view) {
    for (int index = 0; index < size; index += MessageContent.WORD) {
      view.putLong(index, MessageContent.word(slot, index, size));
    }
  }
}
