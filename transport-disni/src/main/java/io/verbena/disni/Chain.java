// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.nio.ByteBuffer;

/**
 * Requests of one kind for one native call, each linked to the one behind it and to its own
 * scatter/gather list once and for all, so that a post writes only where the chain ends, and not
 * even that if it ends where the last one did. Used again and again.
 */
final class Chain {
  /** The number of requests that one call takes. */
  static final int SIZE = 16;

  private final Block block;
  private final int requestSize;
  private final int lists;
  private final int listSize;
  private final int bad;
  private int count;
  private int last;

  /**
   * @param requestSize bytes of a request
   * @param maxScatterGather entries of each one's list
   * @param extra bytes for other use behind the lists, at {@link #extra}
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

  /** Returns where the next request is written. */
  int request() {
    return count * requestSize;
  }

  /** Returns where its scatter/gather list is written. */
  int list() {
    return lists + count * listSize;
  }

  /** Returns where the bytes for other use begin. */
  int extra() {
    return lists + SIZE * listSize;
  }

  /** The address that an offset has for native code. */
  long addressOf(int offset) {
    return block.address() + offset;
  }

  /** The next request is written. */
  void added() {
    count++;
  }

  /** Ends the chain behind what was added, at least one request; returns its address. */
  long address() {
    if (count - 1 != last) {
      link(last, last + 1);
      end(count - 1);
    }
    return block.address();
  }

  /** Returns the address at which the native call writes which request it refused. */
  long badAddress() {
    return block.address() + bad;
  }

  /** Returns how many requests were not posted, the refused one and those behind it. */
  int notPosted() {
    return count - (int) (bytes().getLong(bad) - block.address()) / requestSize;
  }
}
