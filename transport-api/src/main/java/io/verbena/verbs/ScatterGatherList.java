// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import java.util.Objects;

/**
 * The buffers of a work request: (address, length, lkey) triples ({@code ibv_sge}) in reused
 * arrays. Not thread-safe.
 */
public final class ScatterGatherList {
  private final long[] addresses;
  private final int[] lengths;
  private final int[] lkeys;
  private int size;
  private long totalLength;

  ScatterGatherList(int capacity) {
    if (capacity < 0) {
      throw new IllegalArgumentException("capacity: " + capacity + " (expected: >= 0)");
    }
    addresses = new long[capacity];
    lengths = new int[capacity];
    lkeys = new int[capacity];
  }

  /** Returns the most entries that the list can hold. */
  public int capacity() {
    return addresses.length;
  }

  /** Returns the number of entries. */
  public int size() {
    return size;
  }

  /** Returns the sum of all lengths, in bytes. */
  public long totalLength() {
    return totalLength;
  }

  /** Returns the address of entry {@code index}. */
  public long address(int index) {
    return addresses[Objects.checkIndex(index, size)];
  }

  /** Returns the length of entry {@code index}, in bytes. */
  public int length(int index) {
    return lengths[Objects.checkIndex(index, size)];
  }

  /** Returns the lkey of entry {@code index}. */
  public int lkey(int index) {
    return lkeys[Objects.checkIndex(index, size)];
  }

  /** Removes all entries. */
  public void clear() {
    size = 0;
    totalLength = 0;
  }

  /**
   * Appends an entry.
   *
   * @param length the length in bytes
   * @throws IllegalArgumentException for a negative length
   * @throws IllegalStateException if the list is full
   */
  public void add(long address, int length, int lkey) {
    int at = size;
    if (length < 0) {
      throw new IllegalArgumentException("length: " + length + " (expected: >= 0)");
    }
    if (at == addresses.length) {
      throw new IllegalStateException("entries: " + (at + 1) + " (expected: <= " + at + ")");
    }
    addresses[at] = address;
    lengths[at] = length;
    lkeys[at] = lkey;
    totalLength += length;
    size = at + 1;
  }

  /**
   * Replaces the entries by those of another list.
   *
   * @throws IllegalStateException if they do not fit
   */
  public void copyFrom(ScatterGatherList other) {
    clear();
    for (int i = 0; i < other.size; i++) {
      add(other.addresses[i], other.lengths[i], other.lkeys[i]);
    }
  }
}
