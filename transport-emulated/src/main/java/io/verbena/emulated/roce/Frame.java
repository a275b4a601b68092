// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import io.verbena.emulated.lock.LockWorkspace;
import io.verbena.emulated.lock.PacketLock;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * One RoCEv2 packet as bytes, from its IPv4 header on; used again and again, without allocation. Of
 * a packet over IPv6 the IP header stands apart, in {@link #ipv6Header}, and the room of an IPv4
 * one is left as it is, so that all else has the same place; {@link #length} counts that room.
 *
 * <p>To build: {@link #start}, set fields, {@link #append} the payload, {@link #seal}. To read:
 * bring the bytes in ({@link #load}, {@link #copyFrom}, {@link #bytes} with {@link #length(int)},
 * or {@link #udpSpace}), {@link #parse}, and if that answers {@link FrameFault#NONE} get fields.
 * Setting a field of a packet that was sealed or parsed takes another {@link #seal}.
 *
 * <p>A getter or setter of an extended header throws {@link IllegalStateException} for an opcode
 * that has none. Fields mean something only after {@link #start} or a good {@link #parse}.
 *
 * <p>A packet may be {@linkplain #seal(PacketLock, LockWorkspace) sealed by a lock}: then all
 * behind the base transport header is encrypted, and {@link #parse} judges what is before it.
 * {@link #isLocked} says so, and {@link #open} has to follow before other fields than those of the
 * base transport header are read.
 *
 * <p>For one thread at a time.
 */
public final class Frame {
  /** The UDP destination port of RoCEv2. */
  public static final int UDP_PORT = 4791;

  /** The source port of a packet unless another is set: the first of the dynamic ones. */
  public static final int DEFAULT_SOURCE_PORT = 0xC000;

  /** The most payload: the largest MTU. */
  public static final int MAX_PAYLOAD = 4096;

  /** The bytes of IP and UDP header before the base transport header. */
  public static final int UDP_PAYLOAD_OFFSET = BthLayout.OFFSET;

  /** RETH and immediate data: nothing that carries payload has more. */
  private static final int MAX_EXTENDED = 20;

  /** The bytes of the longest packet, which is one that is sealed by a lock. */
  public static final int CAPACITY =
      BthLayout.END + MAX_EXTENDED + MAX_PAYLOAD + PacketLock.OVERHEAD + Icrc.LENGTH;

  /** As many as the longest headers have bytes. */
  private static final byte[] ZEROS = new byte[BthLayout.END + ExtendedHeader.ATOMIC_ETH.length()];

  private static final int ADDRESSED = ExtendedHeader.RETH.bit() | ExtendedHeader.ATOMIC_ETH.bit();

  /** One more, so that a datagram that was cut off is seen to be too long. */
  private static final int ROOM = CAPACITY + 1;

  private final ByteBuffer bytes;
  private final boolean checked;

  /** Of the same bytes, for sockets, which take what is between position and limit. */
  private final ByteBuffer view;

  private final ByteBuffer ipv6 = ByteBuffer.allocate(Ipv6Layout.LENGTH);
  private final Icrc icrc = new Icrc();
  private boolean overIpv6;
  private PacketOpcode opcode = PacketOpcode.RC_ACKNOWLEDGE;

  /** Bytes in all once sealed or brought in; 0 while nothing is. */
  private int length;

  private int payloadLength;

  /** Whether what is behind the base transport header is encrypted, or was. */
  private boolean locked;

  /** A packet on the heap. */
  public Frame() {
    this(ByteBuffer.allocate(ROOM), /* checked= */ true);
  }

  private Frame(ByteBuffer bytes, boolean checked) {
    this.bytes = bytes;
    this.checked = checked;
    view = bytes.duplicate();
  }

  /** A packet in native memory, which sockets send from and receive into without a copy. */
  public static Frame direct() {
    return new Frame(ByteBuffer.allocateDirect(ROOM), /* checked= */ true);
  }

  /**
   * The same, without invariant CRC: 0 is written, and any is taken. For ways that damage nothing,
   * and over IPv6 only.
   */
  public static Frame unchecked() {
    return new Frame(ByteBuffer.allocateDirect(ROOM), /* checked= */ false);
  }

  // ---- building

  /**
   * Begins a packet: all fields are 0 but those of protocol, {@link #DEFAULT_SOURCE_PORT} and the
   * default partition key.
   */
  public Frame start(PacketOpcode opcode) {
    this.opcode = opcode;
    payloadLength = 0;
    length = 0;
    locked = false;
    bytes.put(0, ZEROS, 0, opcode.payloadOffset());
    startIp(0, 0);
    BigEndian.putShort(bytes, UdpLayout.SOURCE_PORT_OFFSET, DEFAULT_SOURCE_PORT);
    bytes.put(BthLayout.OPCODE_OFFSET, (byte) opcode.code());
    return partitionKey(BthLayout.DEFAULT_PARTITION_KEY);
  }

  /**
   * Appends payload; the buffer's position and limit neither matter nor change.
   *
   * @throws IllegalArgumentException beyond {@link #MAX_PAYLOAD}, or for an opcode without payload
   * @throws IndexOutOfBoundsException beyond the buffer
   */
  public Frame append(ByteBuffer source, int index, int length) {
    int room = opcode.carriesPayload() ? MAX_PAYLOAD - payloadLength : 0;
    if (length < 0 || length > room) {
      throw new IllegalArgumentException(
          "payload of " + opcode + ": " + length + " (expected: 0 to " + room + ")");
    }
    bytes.put(opcode.payloadOffset() + payloadLength, source, index, length);
    payloadLength += length;
    return this;
  }

  /**
   * Says how much payload was written to {@link #bytes} at {@link #payloadOffset}, in place of what
   * was appended.
   *
   * @throws IllegalArgumentException beyond {@link #MAX_PAYLOAD}, or for an opcode without payload
   */
  public Frame payloadLength(int length) {
    int room = opcode.carriesPayload() ? MAX_PAYLOAD : 0;
    if (length < 0 || length > room) {
      throw new IllegalArgumentException(
          "payload of " + opcode + ": " + length + " (expected: 0 to " + room + ")");
    }
    payloadLength = length;
    return this;
  }

  /** Ends a packet: pad, lengths, IP checksum and ICRC. */
  public Frame seal() {
    return end(pad(0));
  }

  /**
   * Ends a packet likewise, and seals it by a lock. What switches may change stays open to change:
   * of the base transport header, its byte of congestion bits.
   *
   * @param work from {@link #workspace}
   */
  public Frame seal(PacketLock lock, LockWorkspace work) {
    int padded = pad(BthLayout.SEALED);
    locked = true;
    readHeader(work);
    lock.seal(work, bytes, BthLayout.END, padded);
    return end(padded + PacketLock.OVERHEAD);
  }

  /** Arrays to seal and open packets in. */
  public static LockWorkspace workspace() {
    return new LockWorkspace(BthLayout.LENGTH, CAPACITY - BthLayout.END);
  }

  private int pad(int version) {
    int padded = opcode.payloadOffset() + payloadLength;
    int pad = -payloadLength & 3;
    for (int i = 0; i < pad; i++) {
      bytes.put(padded++, (byte) 0);
    }
    int flags = bytes.get(BthLayout.FLAGS_OFFSET) & ~(BthLayout.PAD_MASK | BthLayout.VERSION_MASK);
    bytes.put(BthLayout.FLAGS_OFFSET, (byte) (flags | pad << BthLayout.PAD_SHIFT | version));
    return padded;
  }

  private void readHeader(LockWorkspace work) {
    byte[] header = work.header();
    bytes.get(BthLayout.OFFSET, header, 0, BthLayout.LENGTH);
    header[BthLayout.CONGESTION_OFFSET - BthLayout.OFFSET] = 0;
  }

  private Frame end(int covered) {
    length = covered + Icrc.LENGTH;
    sealIp();
    Icrc.write(bytes, covered, checked ? computeIcrc(covered) : 0);
    return this;
  }

  // ---- bringing in and taking out

  /**
   * The bytes themselves, for access by index: position and limit have to stay. A packet takes the
   * first {@link #length} of them.
   */
  public ByteBuffer bytes() {
    return bytes;
  }

  /** Of a packet over IPv6, its IP header; also for access by index. */
  public ByteBuffer ipv6Header() {
    return ipv6;
  }

  /** The bytes of the packet in all. */
  public int length() {
    return length;
  }

  /** Says how many bytes were written to {@link #bytes}; {@link #parse} judges them. */
  public Frame length(int length) {
    this.length = length;
    return this;
  }

  /** Copies a packet with all that is known of it. */
  public Frame copyFrom(Frame other) {
    int copied = Math.max(0, Math.min(other.length, CAPACITY));
    bytes.put(0, other.bytes, 0, copied);
    length = other.length;
    ipv6.put(0, other.ipv6, 0, Ipv6Layout.LENGTH);
    overIpv6 = other.overIpv6;
    opcode = other.opcode;
    payloadLength = other.payloadLength;
    locked = other.locked;
    return this;
  }

  /** Copies bytes in and parses them. */
  public FrameFault load(byte[] source, int offset, int length) {
    if (length <= CAPACITY) {
      bytes.put(0, source, offset, length);
    }
    this.length = length;
    overIpv6 = false;
    return parse();
  }

  /**
   * What a UDP socket sends of a sealed packet: from the base transport header on. The same buffer
   * each time.
   */
  public ByteBuffer udpPayload() {
    return view.limit(length).position(UDP_PAYLOAD_OFFSET);
  }

  /** Room for what a UDP socket receives; then {@link #parseUdp}. The same buffer each time. */
  public ByteBuffer udpSpace() {
    return view.clear().position(UDP_PAYLOAD_OFFSET);
  }

  /**
   * Parses what a UDP socket received into {@link #udpSpace}. The IP header is written as the
   * sender must have; its identification, which the socket does not show, is found from the ICRC,
   * of which 16 bits remain as a check.
   *
   * @param received the bytes of the datagram
   * @param source the sender's address, that of the IP header
   * @param sourcePort the sender's port
   * @param destination the address that it was sent to
   */
  public FrameFault parseUdp(int received, int source, int sourcePort, int destination) {
    startIp(source, destination);
    BigEndian.putShort(bytes, UdpLayout.SOURCE_PORT_OFFSET, sourcePort);
    BigEndian.putShort(bytes, UdpLayout.CHECKSUM_OFFSET, 0);
    length = UDP_PAYLOAD_OFFSET + received;
    sealIp();
    FrameFault fault = parseHeaders();
    if (fault != FrameFault.NONE) {
      return fault;
    }
    int covered = length - Icrc.LENGTH;
    int found = icrc.identification(bytes, covered, Icrc.read(bytes, covered));
    if (found == Icrc.NO_IDENTIFICATION) {
      return FrameFault.ICRC;
    }
    if (found != 0) {
      BigEndian.putShort(bytes, Ipv4Layout.IDENTIFICATION_OFFSET, found);
      sealIp();
    }
    return FrameFault.NONE;
  }

  /**
   * The same for a packet over IPv6, which has no identification: its ICRC is a check in full.
   *
   * @param source the sender's address
   * @param destination the address that it was sent to
   */
  public FrameFault parseUdp(int received, Gid source, int sourcePort, Gid destination) {
    addresses(source, destination);
    BigEndian.putShort(bytes, UdpLayout.SOURCE_PORT_OFFSET, sourcePort);
    BigEndian.putShort(bytes, UdpLayout.DESTINATION_PORT_OFFSET, UDP_PORT);
    BigEndian.putShort(bytes, UdpLayout.CHECKSUM_OFFSET, 0);
    length = UDP_PAYLOAD_OFFSET + received;
    sealIp();
    return parse();
  }

  // ---- parsing

  /** Judges the bytes; never throws, whatever they are. Fields are to be read only after NONE. */
  public FrameFault parse() {
    FrameFault fault = parseHeaders();
    if (fault != FrameFault.NONE) {
      return fault;
    }
    int covered = length - Icrc.LENGTH;
    return !checked || Icrc.read(bytes, covered) == computeIcrc(covered)
        ? FrameFault.NONE
        : FrameFault.ICRC;
  }

  private int computeIcrc(int covered) {
    return overIpv6 ? icrc.compute(ipv6, bytes, covered) : icrc.compute(bytes, covered);
  }

  private FrameFault parseHeaders() {
    FrameFault fault = FrameCheck.envelope(bytes, length, overIpv6);
    if (fault != FrameFault.NONE) {
      return fault;
    }
    PacketOpcode found = PacketOpcode.of(bytes.get(BthLayout.OPCODE_OFFSET));
    if (found == null) {
      return FrameFault.OPCODE;
    }
    locked = has(BthLayout.FLAGS_OFFSET, BthLayout.SEALED);
    if (locked) {
      opcode = found;
      payloadLength = 0;
      return FrameFault.NONE;
    }
    return parsePayload(found, length - Icrc.LENGTH);
  }

  private FrameFault parsePayload(PacketOpcode found, int end) {
    int padded = end - found.payloadOffset();
    FrameFault fault = FrameCheck.payload(found, padded, pad());
    if (fault == FrameFault.NONE) {
      opcode = found;
      payloadLength = padded - pad();
    }
    return fault;
  }

  /** Whether it is sealed by a lock, or was before it was opened. */
  public boolean isLocked() {
    return locked;
  }

  /**
   * Opens a good packet that {@link #isLocked}, after which all its fields may be read, once.
   *
   * @param work from {@link #workspace}
   */
  public FrameFault open(PacketLock lock, LockWorkspace work) {
    int padded = length - Icrc.LENGTH - PacketLock.OVERHEAD;
    readHeader(work);
    return switch (lock.open(work, bytes, BthLayout.END, padded)) {
      case OPEN -> parsePayload(opcode, padded);
      case FORGED -> FrameFault.FORGED;
      case REPLAYED -> FrameFault.REPLAYED;
    };
  }

  private void startIp(int source, int destination) {
    bytes.put(Ipv4Layout.VERSION_AND_LENGTH_OFFSET, (byte) Ipv4Layout.VERSION_AND_LENGTH);
    bytes.put(Ipv4Layout.TYPE_OF_SERVICE_OFFSET, (byte) 0);
    BigEndian.putShort(bytes, Ipv4Layout.IDENTIFICATION_OFFSET, 0);
    BigEndian.putShort(bytes, Ipv4Layout.FLAGS_AND_FRAGMENT_OFFSET, Ipv4Layout.DO_NOT_FRAGMENT);
    bytes.put(Ipv4Layout.TIME_TO_LIVE_OFFSET, (byte) Ipv4Layout.DEFAULT_TIME_TO_LIVE);
    bytes.put(Ipv4Layout.PROTOCOL_OFFSET, (byte) Ipv4Layout.UDP_PROTOCOL);
    addresses(source, destination);
    BigEndian.putShort(bytes, UdpLayout.DESTINATION_PORT_OFFSET, UDP_PORT);
  }

  private void sealIp() {
    BigEndian.putShort(bytes, UdpLayout.LENGTH_OFFSET, length - Ipv4Layout.LENGTH);
    if (overIpv6) {
      BigEndian.putShort(ipv6, Ipv6Layout.PAYLOAD_LENGTH_OFFSET, length - Ipv4Layout.LENGTH);
      return;
    }
    BigEndian.putShort(bytes, Ipv4Layout.TOTAL_LENGTH_OFFSET, length);
    BigEndian.putShort(bytes, Ipv4Layout.CHECKSUM_OFFSET, 0);
    BigEndian.putShort(bytes, Ipv4Layout.CHECKSUM_OFFSET, Ipv4Layout.checksum(bytes));
  }

  // ---- payload

  /** The bytes of payload, without pad. */
  public int payloadLength() {
    return payloadLength;
  }

  /** Where the payload starts in {@link #bytes}. */
  public int payloadOffset() {
    return opcode.payloadOffset();
  }

  /**
   * Copies payload out; the buffer's position and limit neither matter nor change.
   *
   * @param offset from the start of the payload
   * @throws IndexOutOfBoundsException beyond the payload or the buffer
   */
  public void copyPayload(int offset, ByteBuffer target, int index, int length) {
    Objects.checkFromIndexSize(offset, length, payloadLength);
    target.put(index, bytes, opcode.payloadOffset() + offset, length);
  }

  // ---- IP and UDP

  public int sourceAddress() {
    return bytes.getInt(Ipv4Layout.SOURCE_OFFSET);
  }

  public int destinationAddress() {
    return bytes.getInt(Ipv4Layout.DESTINATION_OFFSET);
  }

  /** Sets both IPv4 addresses, their first byte in the high bits. */
  public Frame addresses(int source, int destination) {
    bytes.putInt(Ipv4Layout.SOURCE_OFFSET, source);
    bytes.putInt(Ipv4Layout.DESTINATION_OFFSET, destination);
    overIpv6 = false;
    return this;
  }

  /** Has it go over IPv6, and sets both addresses. */
  public Frame addresses(Gid source, Gid destination) {
    overIpv6 = true;
    ipv6.putInt(Ipv6Layout.VERSION_OFFSET, Ipv6Layout.VERSION);
    ipv6.put(Ipv6Layout.NEXT_HEADER_OFFSET, (byte) Ipv6Layout.UDP_PROTOCOL);
    ipv6.put(Ipv6Layout.HOP_LIMIT_OFFSET, (byte) Ipv6Layout.DEFAULT_HOP_LIMIT);
    ipv6.putLong(Ipv6Layout.SOURCE_OFFSET, source.high());
    ipv6.putLong(Ipv6Layout.SOURCE_OFFSET + Long.BYTES, source.low());
    ipv6.putLong(Ipv6Layout.DESTINATION_OFFSET, destination.high());
    ipv6.putLong(Ipv6Layout.DESTINATION_OFFSET + Long.BYTES, destination.low());
    return this;
  }

  public boolean isOverIpv6() {
    return overIpv6;
  }

  /** The high half of the source address; over IPv6. */
  public long sourceHigh() {
    return ipv6.getLong(Ipv6Layout.SOURCE_OFFSET);
  }

  /** The low half of the source address; over IPv6. */
  public long sourceLow() {
    return ipv6.getLong(Ipv6Layout.SOURCE_OFFSET + Long.BYTES);
  }

  /** The high half of the destination address; over IPv6. */
  public long destinationHigh() {
    return ipv6.getLong(Ipv6Layout.DESTINATION_OFFSET);
  }

  /** The low half of the destination address; over IPv6. */
  public long destinationLow() {
    return ipv6.getLong(Ipv6Layout.DESTINATION_OFFSET + Long.BYTES);
  }

  /** The IP type of service: 6 bits DSCP, 2 bits ECN. */
  public int typeOfService() {
    return BigEndian.getByte(bytes, Ipv4Layout.TYPE_OF_SERVICE_OFFSET);
  }

  public Frame typeOfService(int typeOfService) {
    bytes.put(Ipv4Layout.TYPE_OF_SERVICE_OFFSET, (byte) typeOfService);
    return this;
  }

  public int identification() {
    return BigEndian.getShort(bytes, Ipv4Layout.IDENTIFICATION_OFFSET);
  }

  public Frame identification(int identification) {
    BigEndian.putShort(bytes, Ipv4Layout.IDENTIFICATION_OFFSET, identification);
    return this;
  }

  public int timeToLive() {
    return BigEndian.getByte(bytes, Ipv4Layout.TIME_TO_LIVE_OFFSET);
  }

  public Frame timeToLive(int hops) {
    bytes.put(Ipv4Layout.TIME_TO_LIVE_OFFSET, (byte) hops);
    return this;
  }

  public int sourcePort() {
    return BigEndian.getShort(bytes, UdpLayout.SOURCE_PORT_OFFSET);
  }

  public Frame sourcePort(int port) {
    BigEndian.putShort(bytes, UdpLayout.SOURCE_PORT_OFFSET, port);
    return this;
  }

  // ---- base transport header

  public PacketOpcode opcode() {
    return opcode;
  }

  public boolean solicited() {
    return has(BthLayout.FLAGS_OFFSET, BthLayout.SOLICITED);
  }

  public Frame solicited(boolean solicited) {
    return set(BthLayout.FLAGS_OFFSET, BthLayout.SOLICITED, solicited);
  }

  public boolean migrated() {
    return has(BthLayout.FLAGS_OFFSET, BthLayout.MIGRATED);
  }

  public Frame migrated(boolean migrated) {
    return set(BthLayout.FLAGS_OFFSET, BthLayout.MIGRATED, migrated);
  }

  /** The bytes of pad behind the payload, 0 to 3. */
  public int pad() {
    return (bytes.get(BthLayout.FLAGS_OFFSET) & BthLayout.PAD_MASK) >>> BthLayout.PAD_SHIFT;
  }

  public int partitionKey() {
    return BigEndian.getShort(bytes, BthLayout.PARTITION_KEY_OFFSET);
  }

  public Frame partitionKey(int key) {
    BigEndian.putShort(bytes, BthLayout.PARTITION_KEY_OFFSET, key);
    return this;
  }

  /** FECN: the packet met congestion. */
  public boolean forwardCongestion() {
    return has(BthLayout.CONGESTION_OFFSET, BthLayout.FORWARD_CONGESTION);
  }

  public Frame forwardCongestion(boolean met) {
    return set(BthLayout.CONGESTION_OFFSET, BthLayout.FORWARD_CONGESTION, met);
  }

  /** BECN: a packet the other way met congestion. */
  public boolean backwardCongestion() {
    return has(BthLayout.CONGESTION_OFFSET, BthLayout.BACKWARD_CONGESTION);
  }

  public Frame backwardCongestion(boolean met) {
    return set(BthLayout.CONGESTION_OFFSET, BthLayout.BACKWARD_CONGESTION, met);
  }

  public int destinationQueuePair() {
    return BigEndian.get24(bytes, BthLayout.QUEUE_PAIR_WORD);
  }

  public Frame destinationQueuePair(int number) {
    BigEndian.put24(bytes, BthLayout.QUEUE_PAIR_WORD, number);
    return this;
  }

  public boolean ackRequested() {
    return has(BthLayout.ACK_REQUEST_OFFSET, BthLayout.ACK_REQUEST);
  }

  public Frame ackRequested(boolean requested) {
    return set(BthLayout.ACK_REQUEST_OFFSET, BthLayout.ACK_REQUEST, requested);
  }

  public int psn() {
    return BigEndian.get24(bytes, BthLayout.PSN_WORD);
  }

  public Frame psn(int psn) {
    BigEndian.put24(bytes, BthLayout.PSN_WORD, psn);
    return this;
  }

  // ---- extended headers

  /** The remote address of a RETH or an atomic. */
  public long remoteAddress() {
    return bytes.getLong(header(ADDRESSED) + ExtendedHeader.ADDRESS);
  }

  public Frame remoteAddress(long address) {
    bytes.putLong(header(ADDRESSED) + ExtendedHeader.ADDRESS, address);
    return this;
  }

  /** The rkey of a RETH or an atomic. */
  public int remoteKey() {
    return bytes.getInt(header(ADDRESSED) + ExtendedHeader.REMOTE_KEY);
  }

  public Frame remoteKey(int key) {
    bytes.putInt(header(ADDRESSED) + ExtendedHeader.REMOTE_KEY, key);
    return this;
  }

  /** The length of the whole RDMA READ or WRITE: unsigned, 32 bits. */
  public long dmaLength() {
    return bytes.getInt(header(ExtendedHeader.RETH) + ExtendedHeader.RETH_LENGTH) & 0xffff_ffffL;
  }

  public Frame dmaLength(long length) {
    bytes.putInt(header(ExtendedHeader.RETH) + ExtendedHeader.RETH_LENGTH, (int) length);
    return this;
  }

  /** What {@link Aeth} codes. */
  public int syndrome() {
    return BigEndian.getByte(bytes, header(ExtendedHeader.AETH) + ExtendedHeader.AETH_SYNDROME);
  }

  public Frame syndrome(int syndrome) {
    bytes.put(header(ExtendedHeader.AETH) + ExtendedHeader.AETH_SYNDROME, (byte) syndrome);
    return this;
  }

  /** The message sequence number of an answer, 24 bits. */
  public int messageSequence() {
    return BigEndian.get24(bytes, header(ExtendedHeader.AETH) + ExtendedHeader.AETH_SEQUENCE_WORD);
  }

  public Frame messageSequence(int sequence) {
    BigEndian.put24(
        bytes, header(ExtendedHeader.AETH) + ExtendedHeader.AETH_SEQUENCE_WORD, sequence);
    return this;
  }

  public int queueKey() {
    return bytes.getInt(header(ExtendedHeader.DETH) + ExtendedHeader.DETH_QUEUE_KEY);
  }

  public Frame queueKey(int key) {
    bytes.putInt(header(ExtendedHeader.DETH) + ExtendedHeader.DETH_QUEUE_KEY, key);
    return this;
  }

  public int sourceQueuePair() {
    return BigEndian.get24(bytes, header(ExtendedHeader.DETH) + ExtendedHeader.DETH_SOURCE_WORD);
  }

  public Frame sourceQueuePair(int number) {
    BigEndian.put24(bytes, header(ExtendedHeader.DETH) + ExtendedHeader.DETH_SOURCE_WORD, number);
    return this;
  }

  /** The immediate data, its first byte in the high bits. */
  public int immediate() {
    header(ExtendedHeader.IMM_DT);
    return bytes.getInt(opcode.immediateOffset());
  }

  public Frame immediate(int immediate) {
    header(ExtendedHeader.IMM_DT);
    bytes.putInt(opcode.immediateOffset(), immediate);
    return this;
  }

  /** The rkey that a SEND with invalidate names. */
  public int invalidatedKey() {
    return bytes.getInt(header(ExtendedHeader.IETH));
  }

  public Frame invalidatedKey(int key) {
    bytes.putInt(header(ExtendedHeader.IETH), key);
    return this;
  }

  /** What a compare-and-swap writes, or what a fetch-and-add adds. */
  public long swapOrAdd() {
    return bytes.getLong(header(ExtendedHeader.ATOMIC_ETH) + ExtendedHeader.ATOMIC_SWAP_OR_ADD);
  }

  public Frame swapOrAdd(long value) {
    bytes.putLong(header(ExtendedHeader.ATOMIC_ETH) + ExtendedHeader.ATOMIC_SWAP_OR_ADD, value);
    return this;
  }

  /** What a compare-and-swap compares with. */
  public long compare() {
    return bytes.getLong(header(ExtendedHeader.ATOMIC_ETH) + ExtendedHeader.ATOMIC_COMPARE);
  }

  public Frame compare(long value) {
    bytes.putLong(header(ExtendedHeader.ATOMIC_ETH) + ExtendedHeader.ATOMIC_COMPARE, value);
    return this;
  }

  /** What an atomic found before it changed anything. */
  public long original() {
    return bytes.getLong(header(ExtendedHeader.ATOMIC_ACK_ETH) + ExtendedHeader.AETH.length());
  }

  public Frame original(long value) {
    bytes.putLong(header(ExtendedHeader.ATOMIC_ACK_ETH) + ExtendedHeader.AETH.length(), value);
    return this;
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

  private boolean has(int offset, int bit) {
    return (bytes.get(offset) & bit) != 0;
  }

  private Frame set(int offset, int bit, boolean on) {
    int now = bytes.get(offset);
    bytes.put(offset, (byte) (on ? now | bit : now & ~bit));
    return this;
  }

  @Override
  public String toString() {
    return opcode
        + " to QP "
        + destinationQueuePair()
        + " PSN "
        + psn()
        + " payload "
        + payloadLength;
  }
}
