// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.nio.ByteBuffer;

/**
 * A reusable array of work requests in native memory, all sends or all receives, for one native
 * call. The constructor links each request to the next one and to its own scatter/gather list. A
 * post then only moves the end of the list, if it has another length than the post before.
 */
final class Chain {
  /** The maximum number of requests in one native call. */
  static final int SIZE = 16;

  private final Block block;
  private final int requestSize;
  private final int lists;
  private final int listSize;
  private final int bad;
  private int count;
  private int last;

  /**
   * @param requestSize the bytes of a request
   * @param maxScatterGather the entries of each request's scatter/gather list
   * @param extra the bytes for other use after the lists, at {@link #extra}
   */
  Chain(int requestSize, int maxScatterGather, int extra) {
    this.requestSize = requestSize;
    lists = SIZE * requestSize;
    listSize = maxScatterGather * Layout.SGE_SIZE;
    bad = extra() + (extra + 7 & -8);
    block = new Block(bad + Long.BYTES);
    for (int i = 0; i < SIZE; i++) {
      bytes().putLong(i * requestSize + Layout.WR_SG_LIST, addressOf(lists + i * listSize));
      link(i, i + 1);
    }
    end(SIZE - 1);
  }

  private void link(int from, int to) {
    bytes().putLong(from * requestSize + Layout.WR_NEXT, addressOf(to * requestSize));
  }

  private void end(int request) {
    last = request;
    bytes().putLong(request * requestSize + Layout.WR_NEXT, 0);
  }

  ByteBuffer bytes() {
    return block.bytes();
  }

  void clear() {
    count = 0;
  }

  int count() {
    return count;
  }

  boolean isFull() {
    return count == SIZE;
  }

  /** Returns the offset of the next request to write. */
  int request() {
    return count * requestSize;
  }

  /** Returns the offset of the scatter/gather list of the next request to write. */
  int list() {
    return lists + count * listSize;
  }

  /** Returns the offset of the bytes for other use. */
  int extra() {
    return lists + SIZE * listSize;
  }

  /** Returns the native address of an offset. */
  long addressOf(int offset) {
    return block.address() + offset;
  }

  /** Adds the request that was written. */
  void added() {
    count++;
  }

  /** Ends the list after the added requests, at least one, and returns its address. */
  long address() {
    if (count - 1 != last) {
      link(last, last + 1);
      end(count - 1);
    }
    return block.address();
  }

  /** Returns the address where the native call writes the address of the refused request. */
  long badAddress() {
    return block.address() + bad;
  }

  /** Returns the number of requests not posted: the refused request and those after it. */
  int notPosted() {
    return count - (int) (bytes().getLong(bad) - block.address()) / requestSize;
  }
}
