// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/**
 * The memory that a requester may read by itself: what a key opens for one connection, or a part of
 * it. Mutable, and reused; for one thread at a time.
 */
public final class ReadGrant {
  private int queuePair;
  private int readerQueuePair;
  private int key;
  private long address;
  private int length;
  private int slab;
  private int offset;

  /**
   * Sets the connection.
   *
   * @param number the queue pair of the memory's owner
   * @param readerNumber the queue pair of the requester
   */
  public ReadGrant connection(int number, int readerNumber) {
    queuePair = number;
    readerQueuePair = readerNumber;
    return this;
  }

  /** Sets the key and the range of its addresses. */
  public ReadGrant range(int rkey, long from, int bytes) {
    key = rkey;
    address = from;
    length = bytes;
    return this;
  }

  /**
   * Sets where the range lies.
   *
   * @param inSlab the number that the owner's HCA gave a piece of memory
   * @param at the index of the first byte in it
   */
  public ReadGrant place(int inSlab, int at) {
    slab = inSlab;
    offset = at;
    return this;
  }

  public int queuePair() {
    return queuePair;
  }

  public int readerQueuePair() {
    return readerQueuePair;
  }

  public int key() {
    return key;
  }

  public long address() {
    return address;
  }

  public int length() {
    return length;
  }

  public int slab() {
    return slab;
  }

  public int offset() {
    return offset;
  }
}
