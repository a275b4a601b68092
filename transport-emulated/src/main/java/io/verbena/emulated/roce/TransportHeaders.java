// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import java.nio.ByteBuffer;

/**
 * The fields of the base transport header and of the extended headers, which depend on the opcode
 * (IBTA volume 1, transport headers).
 *
 * <p>Getters and setters of an extended header throw {@link IllegalStateException} if the opcode
 * does not have that header.
 */
public abstract sealed class TransportHeaders extends UdpEncapsulation permits RocePacket {
  private static final int ADDRESSED = ExtendedHeader.RETH.bit() | ExtendedHeader.ATOMIC_ETH.bit();

  PacketOpcode opcode = PacketOpcode.RC_ACKNOWLEDGE;

  TransportHeaders(ByteBuffer bytes) {
    super(bytes);
  }

  // ---- base transport header

  public final PacketOpcode opcode() {
    return opcode;
  }

  public final boolean solicited() {
    return has(BthLayout.FLAGS_OFFSET, BthLayout.SOLICITED);
  }

  public final RocePacket solicited(boolean solicited) {
    return set(BthLayout.FLAGS_OFFSET, BthLayout.SOLICITED, solicited);
  }

  public final boolean migrated() {
    return has(BthLayout.FLAGS_OFFSET, BthLayout.MIGRATED);
  }

  public final RocePacket migrated(boolean migrated) {
    return set(BthLayout.FLAGS_OFFSET, BthLayout.MIGRATED, migrated);
  }

  /** Returns the number of pad bytes after the payload, 0 to 3. */
  public final int pad() {
    return (bytes.get(BthLayout.FLAGS_OFFSET) & BthLayout.PAD_MASK) >>> BthLayout.PAD_SHIFT;
  }

  public final int partitionKey() {
    return BigEndian.getShort(bytes, BthLayout.PARTITION_KEY_OFFSET);
  }

  public final RocePacket partitionKey(int key) {
    BigEndian.putShort(bytes, BthLayout.PARTITION_KEY_OFFSET, key);
    return self();
  }

  /** Returns FECN: whether the packet met congestion. */
  public final boolean forwardCongestion() {
    return has(BthLayout.CONGESTION_OFFSET, BthLayout.FORWARD_CONGESTION);
  }

  public final RocePacket forwardCongestion(boolean met) {
    return set(BthLayout.CONGESTION_OFFSET, BthLayout.FORWARD_CONGESTION, met);
  }

  /** Returns BECN: whether a packet in the other direction met congestion. */
  public final boolean backwardCongestion() {
    return has(BthLayout.CONGESTION_OFFSET, BthLayout.BACKWARD_CONGESTION);
  }

  public final RocePacket backwardCongestion(boolean met) {
    return set(BthLayout.CONGESTION_OFFSET, BthLayout.BACKWARD_CONGESTION, met);
  }

  public final int destinationQueuePair() {
    return BigEndian.get24(bytes, BthLayout.QUEUE_PAIR_WORD);
  }

  public final RocePacket destinationQueuePair(int number) {
    BigEndian.put24(bytes, BthLayout.QUEUE_PAIR_WORD, number);
    return self();
  }

  public final boolean ackRequested() {
    return has(BthLayout.ACK_REQUEST_OFFSET, BthLayout.ACK_REQUEST);
  }

  public final RocePacket ackRequested(boolean requested) {
    return set(BthLayout.ACK_REQUEST_OFFSET, BthLayout.ACK_REQUEST, requested);
  }

  public final int psn() {
    return BigEndian.get24(bytes, BthLayout.PSN_WORD);
  }

  public final RocePacket psn(int psn) {
    BigEndian.put24(bytes, BthLayout.PSN_WORD, psn);
    return self();
  }

  // ---- extended headers

  /** Returns the remote address of a RETH or an atomic. */
  public final long remoteAddress() {
    return bytes.getLong(header(ADDRESSED) + ExtendedHeader.ADDRESS);
  }

  public final RocePacket remoteAddress(long address) {
    bytes.putLong(header(ADDRESSED) + ExtendedHeader.ADDRESS, address);
    return self();
  }

  /** Returns the rkey of a RETH or an atomic. */
  public final int remoteKey() {
    return bytes.getInt(header(ADDRESSED) + ExtendedHeader.REMOTE_KEY);
  }

  public final RocePacket remoteKey(int key) {
    bytes.putInt(header(ADDRESSED) + ExtendedHeader.REMOTE_KEY, key);
    return self();
  }

  /** Returns the length in bytes of the whole RDMA READ or WRITE: unsigned, 32 bits. */
  public final long dmaLength() {
    return bytes.getInt(header(ExtendedHeader.RETH) + ExtendedHeader.RETH_LENGTH) & 0xffff_ffffL;
  }

  public final RocePacket dmaLength(long length) {
    bytes.putInt(header(ExtendedHeader.RETH) + ExtendedHeader.RETH_LENGTH, (int) length);
    return self();
  }

  /** Returns the syndrome of an answer; see {@link Aeth}. */
  public final int syndrome() {
    return BigEndian.getByte(bytes, header(ExtendedHeader.AETH) + ExtendedHeader.AETH_SYNDROME);
  }

  public final RocePacket syndrome(int syndrome) {
    bytes.put(header(ExtendedHeader.AETH) + ExtendedHeader.AETH_SYNDROME, (byte) syndrome);
    return self();
  }

  /** Returns the message sequence number of an answer, 24 bits. */
  public final int messageSequence() {
    return BigEndian.get24(bytes, header(ExtendedHeader.AETH) + ExtendedHeader.AETH_SEQUENCE_WORD);
  }

  public final RocePacket messageSequence(int sequence) {
    BigEndian.put24(
        bytes, header(ExtendedHeader.AETH) + ExtendedHeader.AETH_SEQUENCE_WORD, sequence);
    return self();
  }

  public final int queueKey() {
    return bytes.getInt(header(ExtendedHeader.DETH) + ExtendedHeader.DETH_QUEUE_KEY);
  }

  public final RocePacket queueKey(int key) {
    bytes.putInt(header(ExtendedHeader.DETH) + ExtendedHeader.DETH_QUEUE_KEY, key);
    return self();
  }

  public final int sourceQueuePair() {
    return BigEndian.get24(bytes, header(ExtendedHeader.DETH) + ExtendedHeader.DETH_SOURCE_WORD);
  }

  public final RocePacket sourceQueuePair(int number) {
    BigEndian.put24(bytes, header(ExtendedHeader.DETH) + ExtendedHeader.DETH_SOURCE_WORD, number);
    return self();
  }

  /** Returns the immediate data, its first byte in the high bits. */
  public final int immediate() {
    header(ExtendedHeader.IMM_DT);
    return bytes.getInt(opcode.immediateOffset());
  }

  public final RocePacket immediate(int immediate) {
    header(ExtendedHeader.IMM_DT);
    bytes.putInt(opcode.immediateOffset(), immediate);
    return self();
  }

  /** Returns the rkey that a SEND with invalidate names. */
  public final int invalidatedKey() {
    return bytes.getInt(header(ExtendedHeader.IETH));
  }

  public final RocePacket invalidatedKey(int key) {
    bytes.putInt(header(ExtendedHeader.IETH), key);
    return self();
  }

  /** Returns the value that a compare-and-swap writes, or a fetch-and-add adds. */
  public final long swapOrAdd() {
    return bytes.getLong(header(ExtendedHeader.ATOMIC_ETH) + ExtendedHeader.ATOMIC_SWAP_OR_ADD);
  }

  public final RocePacket swapOrAdd(long value) {
    bytes.putLong(header(ExtendedHeader.ATOMIC_ETH) + ExtendedHeader.ATOMIC_SWAP_OR_ADD, value);
    return self();
  }

  /** Returns the value that a compare-and-swap compares with. */
  public final long compare() {
    return bytes.getLong(header(ExtendedHeader.ATOMIC_ETH) + ExtendedHeader.ATOMIC_COMPARE);
  }

  public final RocePacket compare(long value) {
    bytes.putLong(header(ExtendedHeader.ATOMIC_ETH) + ExtendedHeader.ATOMIC_COMPARE, value);
    return self();
  }

  /** Returns the value before an atomic. */
  public final long original() {
    return bytes.getLong(header(ExtendedHeader.ATOMIC_ACK_ETH) + ExtendedHeader.AETH.length());
  }

  public final RocePacket original(long value) {
    bytes.putLong(header(ExtendedHeader.ATOMIC_ACK_ETH) + ExtendedHeader.AETH.length(), value);
    return self();
  }

  private int header(ExtendedHeader wanted) {
    if (!opcode.has(wanted)) {
      throw new IllegalStateException(wanted + ": not in " + opcode);
    }
    return BthLayout.END;
  }

  private int header(int wanted) {
    if (!opcode.hasAny(wanted)) {
      throw new IllegalStateException("remote address: not in " + opcode);
    }
    return BthLayout.END;
  }

  final boolean has(int offset, int bit) {
    return (bytes.get(offset) & bit) != 0;
  }

  private RocePacket set(int offset, int bit, boolean on) {
    int now = bytes.get(offset);
    bytes.put(offset, (byte) (on ? now | bit : now & ~bit));
    return self();
  }
}
