// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import io.verbena.emulated.crypto.CipherWorkspace;
import io.verbena.emulated.crypto.PacketCipher;
import io.verbena.emulated.crypto.SessionKeys;
import io.verbena.emulated.crypto.SharedSecret;
import io.verbena.emulated.roce.BigEndian;
import io.verbena.emulated.roce.BthLayout;
import io.verbena.emulated.roce.ExtendedHeader;
import io.verbena.emulated.roce.Icrc;
import io.verbena.emulated.roce.Ipv4Layout;
import io.verbena.emulated.roce.PacketFault;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.emulated.roce.UdpLayout;
import java.nio.ByteBuffer;

/**
 * Fuzzes the parser of RoCEv2 packets. The first byte of the input chooses how the rest arrives:
 * unchanged, or with correct lengths and checksums, so that the fuzzer reaches the code after those
 * checks; with an IP header or from a UDP socket; or sealed by the peer of a locked connection, so
 * that it passes the lock.
 */
public final class PacketFuzz {
  private static final int LEAST = BthLayout.END + Icrc.LENGTH;
  private static final RocePacket FRAME = new RocePacket();
  private static final RocePacket AGAIN = new RocePacket();
  private static final Icrc CRC = new Icrc();
  private static final ByteBuffer OUT = ByteBuffer.allocate(RocePacket.CAPACITY);
  private static final int SEALED = 4;
  private static final int VERSION_MASK = 0x0f;
  private static final int SEALED_VERSION = 1;
  private static final SharedSecret KEY = SharedSecret.of(new byte[SharedSecret.LEAST]);
  private static final byte[] NOTHING = new byte[0];
  private static final PacketCipher PEER = SessionKeys.of(KEY, true, NOTHING, NOTHING).packets();
  private static final PacketCipher LOCK = SessionKeys.of(KEY, false, NOTHING, NOTHING).packets();
  private static final CipherWorkspace WORK = RocePacket.workspace();

  private PacketFuzz() {}

  public static void fuzzerTestOneInput(byte[] data) {
    if (data.length == 0) {
      return;
    }
    int length = data.length - 1;
    if ((data[0] & 7) == SEALED && length >= LEAST) {
      judgeSealed(data, Math.min(length, RocePacket.CAPACITY - PacketCipher.OVERHEAD));
      return;
    }
    switch (data[0] & 3) {
      case 0 -> judge(FRAME.load(data, 1, length));
      case 1 -> judge(withRightSums(data, length));
      case 2 -> judge(fromSocket(data, length));
      default -> judge(fromSocketWithRightSum(data, length));
    }
  }

  private static PacketFault withRightSums(byte[] data, int length) {
    if (length < LEAST || length > RocePacket.CAPACITY) {
      return FRAME.load(data, 1, length);
    }
    FRAME.bytes().put(0, data, 1, length);
    return withRightSums(length);
  }

  private static PacketFault withRightSums(int length) {
    ByteBuffer bytes = FRAME.bytes();
    FRAME.length(length);
    BigEndian.putShort(bytes, Ipv4Layout.TOTAL_LENGTH_OFFSET, length);
    BigEndian.putShort(bytes, UdpLayout.LENGTH_OFFSET, length - Ipv4Layout.LENGTH);
    BigEndian.putShort(bytes, Ipv4Layout.CHECKSUM_OFFSET, 0);
    BigEndian.putShort(bytes, Ipv4Layout.CHECKSUM_OFFSET, Ipv4Layout.checksum(bytes));
    int covered = length - Icrc.LENGTH;
    Icrc.write(bytes, covered, CRC.compute(bytes, covered));
    PacketFault fault = FRAME.parse();
    Claim.that(
        fault != PacketFault.ICRC && fault != PacketFault.IP_CHECKSUM, "a right sum is right");
    return fault;
  }

  /** Checks a sealed packet, whose contents are arbitrary: any host with the key may send it. */
  private static void judgeSealed(byte[] data, int length) {
    ByteBuffer bytes = FRAME.bytes();
    bytes.put(0, data, 1, length);
    int flags = RocePacket.UDP_PAYLOAD_OFFSET + 1;
    bytes.put(flags, (byte) ((bytes.get(flags) & ~VERSION_MASK) | SEALED_VERSION));
    byte[] header = WORK.header();
    bytes.get(RocePacket.UDP_PAYLOAD_OFFSET, header, 0, BthLayout.LENGTH);
    header[Integer.BYTES] = 0;
    int end = length - Icrc.LENGTH;
    PEER.seal(WORK, bytes, BthLayout.END, end);
    if (withRightSums(length + PacketCipher.OVERHEAD) != PacketFault.NONE) {
      return;
    }
    Claim.that(FRAME.isLocked(), "what is sealed is locked");
    PacketFault fault = FRAME.open(LOCK, WORK);
    Claim.that(fault != PacketFault.FORGED && fault != PacketFault.REPLAYED, "the peer's packet");
    judge(fault, PacketCipher.OVERHEAD);
  }

  private static PacketFault fromSocket(byte[] data, int length) {
    ByteBuffer space = FRAME.udpSpace();
    int received = Math.min(length, space.remaining());
    space.put(data, 1, received);
    return FRAME.parseUdp(received, 0x0a000001, RocePacket.DEFAULT_SOURCE_PORT, 0x0a000002);
  }

  /** Parses a datagram with valid IP and UDP headers, the input as payload, and a valid ICRC. */
  private static PacketFault fromSocketWithRightSum(byte[] data, int length) {
    int received = Math.min(length, RocePacket.CAPACITY - RocePacket.UDP_PAYLOAD_OFFSET);
    if (received < BthLayout.LENGTH + Icrc.LENGTH) {
      return fromSocket(data, length);
    }
    FRAME.start(PacketOpcode.RC_SEND_ONLY).addresses(1, 2).identification(received).seal();
    ByteBuffer bytes = FRAME.bytes();
    bytes.put(RocePacket.UDP_PAYLOAD_OFFSET, data, 1, received);
    int covered = RocePacket.UDP_PAYLOAD_OFFSET + received - Icrc.LENGTH;
    BigEndian.putShort(bytes, Ipv4Layout.TOTAL_LENGTH_OFFSET, covered + Icrc.LENGTH);
    BigEndian.putShort(bytes, UdpLayout.LENGTH_OFFSET, received + UdpLayout.LENGTH);
    Icrc.write(bytes, covered, CRC.compute(bytes, covered));
    PacketFault fault = FRAME.parseUdp(received, 1, RocePacket.DEFAULT_SOURCE_PORT, 2);
    Claim.that(fault != PacketFault.ICRC, "a right ICRC is right");
    Claim.that(
        fault != PacketFault.NONE || FRAME.identification() == received,
        "the identification is found");
    return fault;
  }

  private static void judge(PacketFault fault) {
    if (fault != PacketFault.NONE) {
      return;
    }
    if (FRAME.isLocked()) {
      Claim.that(FRAME.open(LOCK, WORK) != PacketFault.NONE, "nobody seals without the key");
      return;
    }
    judge(fault, 0);
  }

  private static void judge(PacketFault fault, int overhead) {
    if (fault != PacketFault.NONE) {
      return;
    }
    int end = FRAME.payloadOffset() + FRAME.payloadLength() + FRAME.pad() + Icrc.LENGTH;
    Claim.that(end + overhead == FRAME.length(), "headers, payload, pad and ICRC are the packet");
    Claim.that(FRAME.payloadLength() <= RocePacket.MAX_PAYLOAD, "payload within the largest MTU");
    FRAME.copyPayload(0, OUT, 0, FRAME.payloadLength());
    writeAgain();
    Claim.that(AGAIN.parse() == PacketFault.NONE, "what was read can be written");
    Claim.that(AGAIN.length() + overhead == FRAME.length(), "as long");
    judgeBth();
    Claim.that(extendedHeaders(AGAIN).equals(extendedHeaders(FRAME)), "the same headers");
    Claim.that(payload(AGAIN).equals(payload(FRAME)), "the same payload");
  }

  /** Checks all fields but the reserved ones, which are written as 0. */
  private static void judgeBth() {
    Claim.that(AGAIN.opcode() == FRAME.opcode(), "the same opcode");
    Claim.that(AGAIN.solicited() == FRAME.solicited(), "the same solicited event");
    Claim.that(AGAIN.migrated() == FRAME.migrated(), "the same migration state");
    Claim.that(AGAIN.partitionKey() == FRAME.partitionKey(), "the same partition key");
    Claim.that(
        AGAIN.forwardCongestion() == FRAME.forwardCongestion()
            && AGAIN.backwardCongestion() == FRAME.backwardCongestion(),
        "the same congestion notices");
    Claim.that(AGAIN.destinationQueuePair() == FRAME.destinationQueuePair(), "the same receiver");
    Claim.that(AGAIN.ackRequested() == FRAME.ackRequested(), "the same request for an ACK");
    Claim.that(AGAIN.psn() == FRAME.psn(), "the same PSN");
  }

  /** Returns the bytes between BTH and payload, without the reserved byte of a DETH. */
  private static ByteBuffer extendedHeaders(RocePacket frame) {
    int length = frame.payloadOffset() - BthLayout.END;
    ByteBuffer headers = ByteBuffer.allocate(length);
    headers.put(0, frame.bytes(), BthLayout.END, length);
    if (frame.opcode().has(ExtendedHeader.DETH)) {
      headers.put(Integer.BYTES, (byte) 0);
    }
    return headers;
  }

  private static ByteBuffer payload(RocePacket frame) {
    return frame.bytes().slice(frame.payloadOffset(), frame.payloadLength());
  }

  private static void writeAgain() {
    PacketOpcode opcode = FRAME.opcode();
    AGAIN
        .start(opcode)
        .addresses(FRAME.sourceAddress(), FRAME.destinationAddress())
        .sourcePort(FRAME.sourcePort())
        .identification(FRAME.identification())
        .typeOfService(FRAME.typeOfService())
        .timeToLive(FRAME.timeToLive())
        .solicited(FRAME.solicited())
        .migrated(FRAME.migrated())
        .partitionKey(FRAME.partitionKey())
        .forwardCongestion(FRAME.forwardCongestion())
        .backwardCongestion(FRAME.backwardCongestion())
        .destinationQueuePair(FRAME.destinationQueuePair())
        .ackRequested(FRAME.ackRequested())
        .psn(FRAME.psn());
    if (opcode.has(ExtendedHeader.DETH)) {
      AGAIN.queueKey(FRAME.queueKey()).sourceQueuePair(FRAME.sourceQueuePair());
    }
    if (opcode.has(ExtendedHeader.RETH)) {
      AGAIN.dmaLength(FRAME.dmaLength());
    }
    if (opcode.has(ExtendedHeader.RETH) || opcode.has(ExtendedHeader.ATOMIC_ETH)) {
      AGAIN.remoteAddress(FRAME.remoteAddress()).remoteKey(FRAME.remoteKey());
    }
    if (opcode.has(ExtendedHeader.ATOMIC_ETH)) {
      AGAIN.swapOrAdd(FRAME.swapOrAdd()).compare(FRAME.compare());
    }
    if (opcode.has(ExtendedHeader.AETH)) {
      AGAIN.syndrome(FRAME.syndrome()).messageSequence(FRAME.messageSequence());
    }
    if (opcode.has(ExtendedHeader.ATOMIC_ACK_ETH)) {
      AGAIN.original(FRAME.original());
    }
    if (opcode.has(ExtendedHeader.IMM_DT)) {
      AGAIN.immediate(FRAME.immediate());
    }
    if (opcode.has(ExtendedHeader.IETH)) {
      AGAIN.invalidatedKey(FRAME.invalidatedKey());
    }
    AGAIN.append(OUT, 0, FRAME.payloadLength()).seal();
  }
}
