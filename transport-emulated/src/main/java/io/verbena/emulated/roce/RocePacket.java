// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.mapped.PayloadReference;
import io.verbena.verbs.Gid;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * One RoCEv2 packet as bytes from its IPv4 header on; reusable without allocation. Over IPv6, the
 * IP header is kept apart, and {@link #length} counts the bytes of an IPv4 header instead.
 *
 * <p>To build: {@link #start}, set fields, {@link #append} the payload, {@link #seal}. To read:
 * bring the bytes in ({@link #load}, {@link #copyFrom}, {@link #bytes} with {@link #length(int)},
 * or {@link #udpSpace}), {@link #parse}, and get fields if the result is {@link PacketFault#NONE}.
 * After setting a field of a sealed or parsed packet, {@link #seal} it again.
 *
 * <p>Fields are valid only after {@link #start} or a {@link #parse} without a fault.
 *
 * <p>In a packet that is {@linkplain #seal(PacketCipher, CipherWorkspace) sealed by a cipher},
 * everything after the base transport header is encrypted, and {@link #parse} checks only the
 * headers up to that one. {@link #isLocked} then returns true; call {@link #open} before reading
 * any other fields than those of the base transport header.
 *
 * <p>Not thread-safe.
 */
public final class RocePacket extends TransportHeaders {
  /** The default source port of a packet: the first dynamic port. */
  public static final int DEFAULT_SOURCE_PORT = 0xC000;

  /** The most bytes of payload: the largest MTU. */
  public static final int MAX_PAYLOAD = 4096;

  /** The most bytes of payload that a packet can refer to. */
  public static final int MAX_REFERENCE = 1 << 16;

  /** The number of bytes of the IP and UDP headers before the base transport header. */
  public static final int UDP_PAYLOAD_OFFSET = BthLayout.OFFSET;

  /** Bytes of RETH and immediate data, the longest extended headers of a packet with payload. */
  private static final int MAX_EXTENDED = 20;

  /** The most bytes of a packet: one that is sealed by a cipher. */
  public static final int CAPACITY =
      BthLayout.END + MAX_EXTENDED + MAX_PAYLOAD + PacketCipher.OVERHEAD + Icrc.LENGTH;

  /** Zeros for the longest headers. */
  private static final byte[] ZEROS = new byte[BthLayout.END + ExtendedHeader.ATOMIC_ETH.length()];

  /** The buffer has one more byte, so that a truncated datagram is recognized as too long. */
  private static final int ROOM = CAPACITY + 1;

  private final boolean checked;

  /** A view of the same bytes for sockets, which use position and limit. */
  private final ByteBuffer view;

  private final Icrc icrc = new Icrc();

  /** The length in bytes of a packet that is sealed or brought in, else 0. */
  private int length;

  private int payloadLength;

  /** True if everything after the base transport header is or was encrypted. */
  private boolean locked;

  private final PayloadReference reference = new PayloadReference();

  /** True if the payload is not in {@link #bytes} but at {@link #reference}. */
  private boolean refers;

  /** Creates a packet on the heap. */
  public RocePacket() {
    this(ByteBuffer.allocate(ROOM), /* checked= */ true);
  }

  private RocePacket(ByteBuffer bytes, boolean checked) {
    super(bytes);
    this.checked = checked;
    view = bytes.duplicate();
  }

  /** Returns a packet in native memory, so that sockets send and receive it without a copy. */
  public static RocePacket direct() {
    return new RocePacket(ByteBuffer.allocateDirect(ROOM), /* checked= */ true);
  }

  /**
   * Returns a packet in native memory without an invariant CRC: 0 is written, and any value is
   * accepted. Only for wires that never damage packets, over IPv6.
   */
  public static RocePacket unchecked() {
    return new RocePacket(ByteBuffer.allocateDirect(ROOM), /* checked= */ false);
  }

  @Override
  RocePacket self() {
    return this;
  }

  // ---- building

  /**
   * Begins a packet. All fields are 0 except the constants of IP and UDP, the source port ({@link
   * #DEFAULT_SOURCE_PORT}) and the default partition key.
   */
  public RocePacket start(PacketOpcode opcode) {
    this.opcode = opcode;
    payloadLength = 0;
    length = 0;
    locked = false;
    refers = false;
    bytes.put(0, ZEROS, 0, opcode.payloadOffset());
    startIp(0, 0);
    sourcePort(DEFAULT_SOURCE_PORT);
    bytes.put(BthLayout.OPCODE_OFFSET, (byte) opcode.code());
    return partitionKey(BthLayout.DEFAULT_PARTITION_KEY);
  }

  /**
   * Appends payload from an absolute index of a buffer, whose position does not change.
   *
   * @throws IllegalArgumentException if the payload exceeds {@link #MAX_PAYLOAD}, or the opcode has
   *     none
   * @throws IndexOutOfBoundsException if the range exceeds the buffer
   */
  public RocePacket append(ByteBuffer source, int index, int length) {
    checkPayload(length, MAX_PAYLOAD - payloadLength);
    bytes.put(opcode.payloadOffset() + payloadLength, source, index, length);
    payloadLength += length;
    return this;
  }

  /**
   * Sets the length of a payload that the caller has written to {@link #bytes} at {@link
   * #payloadOffset}; replaces appended payload.
   *
   * @throws IllegalArgumentException if the length exceeds {@link #MAX_PAYLOAD}, or the opcode has
   *     no payload
   */
  public RocePacket payloadLength(int length) {
    checkPayload(length, MAX_PAYLOAD);
    payloadLength = length;
    return this;
  }

  /**
   * Returns the place of the payload that this packet {@linkplain #refer refers} to; the caller
   * sets it.
   */
  public PayloadReference reference() {
    return reference;
  }

  /**
   * Makes the packet refer to payload at {@link #reference} instead of carrying it. Only for wires
   * that accept such packets; a cipher cannot seal them.
   *
   * @throws IllegalArgumentException if the length exceeds {@link #MAX_REFERENCE}, or the opcode
   *     has no payload
   */
  public RocePacket refer(int length) {
    checkPayload(length, MAX_REFERENCE);
    payloadLength = length;
    refers = true;
    return this;
  }

  /**
   * Returns whether a parsed packet may refer to payload: only packets of a reliable connection
   * may, since their sender learns when the payload was copied.
   */
  public boolean mayRefer() {
    return !locked
        && payloadLength == 0
        && opcode.carriesPayload()
        && opcode.transport() == PacketOpcode.Transport.RC;
  }

  /** Returns whether the packet refers to its payload instead of carrying it. */
  public boolean isReferring() {
    return refers;
  }

  private void checkPayload(int length, int most) {
    int room = opcode.carriesPayload() ? most : 0;
    if (length < 0 || length > room) {
      throw new IllegalArgumentException(
          "payload of " + opcode + ": " + length + " (expected: 0 to " + room + ")");
    }
  }

  /** Completes a packet: fills in pad, lengths, IP checksum and ICRC. */
  public RocePacket seal() {
    return end(pad(0));
  }

  /**
   * Completes a packet and seals it by a cipher. The seal does not cover the byte with the
   * congestion bits, which switches may change.
   *
   * @param work a workspace from {@link #workspace}
   */
  public RocePacket seal(PacketCipher cipher, CipherWorkspace work) {
    int padded = pad(BthLayout.SEALED);
    locked = true;
    readHeader(work);
    cipher.seal(work, bytes, BthLayout.END, padded);
    return end(padded + PacketCipher.OVERHEAD);
  }

  /** Returns a workspace in which to seal and open packets. */
  public static CipherWorkspace workspace() {
    return new CipherWorkspace(BthLayout.LENGTH, CAPACITY - BthLayout.END);
  }

  private int pad(int version) {
    int carried = refers ? 0 : payloadLength;
    int padded = opcode.payloadOffset() + carried;
    int pad = -carried & 3;
    for (int i = 0; i < pad; i++) {
      bytes.put(padded++, (byte) 0);
    }
    int flags = bytes.get(BthLayout.FLAGS_OFFSET) & ~(BthLayout.PAD_MASK | BthLayout.VERSION_MASK);
    bytes.put(BthLayout.FLAGS_OFFSET, (byte) (flags | pad << BthLayout.PAD_SHIFT | version));
    return padded;
  }

  private void readHeader(CipherWorkspace work) {
    byte[] header = work.header();
    bytes.get(BthLayout.OFFSET, header, 0, BthLayout.LENGTH);
    header[BthLayout.CONGESTION_OFFSET - BthLayout.OFFSET] = 0;
  }

  private RocePacket end(int covered) {
    length = covered + Icrc.LENGTH;
    sealIp(length);
    Icrc.write(bytes, covered, checked ? computeIcrc(covered) : 0);
    return this;
  }

  // ---- bringing in and taking out

  /**
   * Returns the bytes of the packet, for access by index only: the caller must not change position
   * or limit. The packet is the first {@link #length} bytes.
   */
  public ByteBuffer bytes() {
    return bytes;
  }

  /** Returns the length of the whole packet in bytes. */
  public int length() {
    return length;
  }

  /** Sets the number of bytes that were written to {@link #bytes}; {@link #parse} checks them. */
  public RocePacket length(int length) {
    this.length = length;
    return this;
  }

  /** Copies another packet with all its state. */
  public RocePacket copyFrom(RocePacket other) {
    int copied = Math.max(0, Math.min(other.length, CAPACITY));
    bytes.put(0, other.bytes, 0, copied);
    length = other.length;
    ipv6.put(0, other.ipv6, 0, Ipv6Layout.LENGTH);
    overIpv6 = other.overIpv6;
    opcode = other.opcode;
    payloadLength = other.payloadLength;
    locked = other.locked;
    refers = other.refers;
    reference.copyFrom(other.reference);
    return this;
  }

  /** Copies bytes into this packet and parses them. */
  public PacketFault load(byte[] source, int offset, int length) {
    if (length <= CAPACITY) {
      bytes.put(0, source, offset, length);
    }
    this.length = length;
    overIpv6 = false;
    return parse();
  }

  /**
   * Returns the bytes of a sealed packet that a UDP socket sends: from the base transport header
   * on. Returns the same buffer each time.
   */
  public ByteBuffer udpPayload() {
    return view.limit(length).position(UDP_PAYLOAD_OFFSET);
  }

  /**
   * Returns the buffer that a UDP socket receives into; {@link #parseUdp} follows. Returns the same
   * buffer each time.
   */
  public ByteBuffer udpSpace() {
    return view.clear().position(UDP_PAYLOAD_OFFSET);
  }

  /**
   * Parses a datagram that a UDP socket received into {@link #udpSpace}. Reconstructs the sender's
   * IP header. The socket does not show its identification, so this is computed from the ICRC, and
   * 16 bits of the ICRC remain as a check.
   *
   * @param received the number of bytes of the datagram
   * @param source the sender's address in the IP header
   * @param sourcePort the sender's port
   * @param destination the address that the datagram was sent to
   */
  public PacketFault parseUdp(int received, int source, int sourcePort, int destination) {
    startIp(source, destination);
    receivedFrom(sourcePort, received);
    PacketFault fault = parseHeaders();
    if (fault != PacketFault.NONE) {
      return fault;
    }
    int covered = length - Icrc.LENGTH;
    int found = icrc.identification(bytes, covered, Icrc.read(bytes, covered));
    if (found == Icrc.NO_IDENTIFICATION) {
      return PacketFault.ICRC;
    }
    if (found != 0) {
      BigEndian.putShort(bytes, Ipv4Layout.IDENTIFICATION_OFFSET, found);
      sealIp(length);
    }
    return PacketFault.NONE;
  }

  /**
   * Parses a datagram over IPv6. Its IP header has no identification, so the whole ICRC is a check.
   *
   * @param source the sender's address
   * @param destination the address that the datagram was sent to
   */
  public PacketFault parseUdp(int received, Gid source, int sourcePort, Gid destination) {
    addresses(source, destination);
    BigEndian.putShort(bytes, UdpLayout.DESTINATION_PORT_OFFSET, UDP_PORT);
    receivedFrom(sourcePort, received);
    return parse();
  }

  private void receivedFrom(int port, int received) {
    sourcePort(port);
    BigEndian.putShort(bytes, UdpLayout.CHECKSUM_OFFSET, 0);
    length = UDP_PAYLOAD_OFFSET + received;
    sealIp(length);
  }

  // ---- parsing

  /**
   * Checks the bytes; never throws, whatever they are. Fields may be read only if the result is
   * {@link PacketFault#NONE}.
   */
  public PacketFault parse() {
    PacketFault fault = parseHeaders();
    if (fault != PacketFault.NONE) {
      return fault;
    }
    int covered = length - Icrc.LENGTH;
    return !checked || Icrc.read(bytes, covered) == computeIcrc(covered)
        ? PacketFault.NONE
        : PacketFault.ICRC;
  }

  private int computeIcrc(int covered) {
    return overIpv6 ? icrc.compute(ipv6, bytes, covered) : icrc.compute(bytes, covered);
  }

  private PacketFault parseHeaders() {
    refers = false;
    PacketFault fault = PacketCheck.envelope(bytes, length, overIpv6);
    if (fault != PacketFault.NONE) {
      return fault;
    }
    PacketOpcode found = PacketOpcode.of(bytes.get(BthLayout.OPCODE_OFFSET));
    if (found == null) {
      return PacketFault.OPCODE;
    }
    locked = has(BthLayout.FLAGS_OFFSET, BthLayout.SEALED);
    if (locked) {
      opcode = found;
      payloadLength = 0;
      return PacketFault.NONE;
    }
    return parsePayload(found, length - Icrc.LENGTH);
  }

  private PacketFault parsePayload(PacketOpcode found, int end) {
    int padded = end - found.payloadOffset();
    PacketFault fault = PacketCheck.payload(found, padded, pad());
    if (fault == PacketFault.NONE) {
      opcode = found;
      payloadLength = padded - pad();
    }
    return fault;
  }

  /** Returns whether the packet is sealed by a cipher, or was before {@link #open}. */
  public boolean isLocked() {
    return locked;
  }

  /**
   * Opens a packet that {@link #parse} found valid and that {@link #isLocked}. If the result is
   * {@link PacketFault#NONE}, all fields may be read. Call it once per packet.
   *
   * @param work a workspace from {@link #workspace}
   */
  public PacketFault open(PacketCipher cipher, CipherWorkspace work) {
    int padded = length - Icrc.LENGTH - PacketCipher.OVERHEAD;
    readHeader(work);
    return switch (cipher.open(work, bytes, BthLayout.END, padded)) {
      case OPEN -> parsePayload(opcode, padded);
      case FORGED -> PacketFault.FORGED;
      case REPLAYED -> PacketFault.REPLAYED;
    };
  }

  // ---- payload

  /** Returns the number of bytes of payload, without pad. */
  public int payloadLength() {
    return payloadLength;
  }

  /** Returns the index of the payload in {@link #bytes}, if the packet carries it. */
  public int payloadOffset() {
    return opcode.payloadOffset();
  }

  /** Returns the buffer with the payload, for access by index. */
  public ByteBuffer payload() {
    return refers ? reference.memory() : bytes;
  }

  /** Returns the index of the payload in {@link #payload}. */
  public int payloadIndex() {
    return refers ? reference.offset() : opcode.payloadOffset();
  }

  /**
   * Returns whether the payload that was copied from {@link #payload} is what the sender sent. Call
   * it after the copy and before anything depends on the copy.
   */
  public boolean confirm() {
    return !refers || reference.confirm();
  }

  /**
   * Copies payload to an absolute index of a buffer, whose position does not change.
   *
   * @param offset from the start of the payload
   * @throws IndexOutOfBoundsException if the range exceeds the payload or the buffer
   */
  public void copyPayload(int offset, ByteBuffer target, int index, int length) {
    Objects.checkFromIndexSize(offset, length, payloadLength);
    target.put(index, payload(), payloadIndex() + offset, length);
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
