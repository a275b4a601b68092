// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.mapped;

/**
 * Memory that a requester may read without a packet: the range that a key covers for one
 * connection, or a part of it. Mutable and reused; not thread-safe.
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
   * @param number the number of the queue pair at the memory's owner
   * @param readerNumber the number of the queue pair at the requester
   */
  public ReadGrant connection(int number, int readerNumber) {
    queuePair = number;
    readerQueuePair = readerNumber;
    return this;
  }

  /** Sets the key, and the range as address and length in bytes. */
  public ReadGrant range(int rkey, long from, int bytes) {
    key = rkey;
    address = from;
    length = bytes;
    return this;
  }

  /**
   * Sets the place of the range.
   *
   * @param inSlab the number of a slab of the owner's HCA
   * @param at the index of the first byte in the slab
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
