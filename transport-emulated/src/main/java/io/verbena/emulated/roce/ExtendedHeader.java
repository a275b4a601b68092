// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/**
 * The headers that may follow the base transport header, in this order. The constants are offsets
 * in bytes within a header.
 */
public enum ExtendedHeader {
  /** The source of a datagram: queue key, source queue pair. */
  DETH(8, 1),
  /** The target of an RDMA READ or WRITE: address, rkey, length. */
  RETH(16, 2),
  /** The target and operands of an atomic: address, rkey, swap or add, compare. */
  ATOMIC_ETH(28, 4),
  /** Syndrome and message sequence number of an answer. */
  AETH(4, 8),
  /** The value before an atomic. */
  ATOMIC_ACK_ETH(8, 16),
  /** Immediate data. */
  IMM_DT(4, 32),
  /** The rkey to invalidate. */
  IETH(4, 64);

  static final int DETH_QUEUE_KEY = 0;

  /** The low 24 bits of this word. */
  static final int DETH_SOURCE_WORD = 4;

  /** In RETH and ATOMIC_ETH alike. */
  static final int ADDRESS = 0;

  /** In RETH and ATOMIC_ETH alike. */
  static final int REMOTE_KEY = 8;

  static final int RETH_LENGTH = 12;
  static final int ATOMIC_SWAP_OR_ADD = 12;
  static final int ATOMIC_COMPARE = 20;
  static final int AETH_SYNDROME = 0;

  /** The low 24 bits of this word. */
  static final int AETH_SEQUENCE_WORD = 0;

  private final int length;
  private final int bit;

  ExtendedHeader(int length, int bit) {
    this.length = length;
    this.bit = bit;
  }

  /** Returns the length of the header in bytes. */
  public int length() {
    return length;
  }

  /** Returns the bit of the header in a set of headers. */
  int bit() {
    return bit;
  }
}
