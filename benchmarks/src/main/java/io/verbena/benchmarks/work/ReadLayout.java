// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * The remote memory of the one-sided workloads: {@code slots} pieces of {@code size} bytes, each
 * with different contents, so that a missing read is detected.
 *
 * @param size bytes of a read
 * @param slots number of pieces; odd, so that each of a power of two of local buffers gets other
 *     contents at each read
 */
public record ReadLayout(int size, int slots) {
  /** The size in bytes of the last-level cache of our machines, at which the results were taken. */
  private static final int REMOTE_BYTES = 32 << 20;

  public ReadLayout {
    MessageContent.checkSize(size);
    if (slots < 3 || slots % 2 == 0) {
      throw new IllegalArgumentException("slots: " + slots + " (expected: odd and >= 3)");
    }
  }

  /**
   * Returns the layout for reads of {@code size} bytes, larger than the private caches of a CPU.
   */
  public static ReadLayout of(int size) {
    return new ReadLayout(size, Math.max(3, REMOTE_BYTES / size - 1));
  }

  /** Returns the size of the remote memory in bytes. */
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
