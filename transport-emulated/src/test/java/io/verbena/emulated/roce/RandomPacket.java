// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Random;

/** Random fields of a packet, which a frame and handwritten code can each serialize. */
final class RandomPacket {
  final PacketOpcode opcode;
  final int source;
  final int destination;
  final int sourcePort;
  final int identification;
  final int typeOfService;
  final int timeToLive;
  final boolean solicited;
  final boolean migrated;
  final boolean forwardCongestion;
  final boolean backwardCongestion;
  final boolean ackRequested;
  final int partitionKey;
  final int destinationQueuePair;
  final int psn;
  final int queueKey;
  final int sourceQueuePair;
  final long address;
  final int remoteKey;
  final long dmaLength;
  final long swapOrAdd;
  final long compare;
  final int syndrome;
  final int messageSequence;
  final long original;
  final int immediate;
  final int invalidatedKey;
  final byte[] payload;

  RandomPacket(PacketOpcode opcode, Random random) {
    this(opcode, random, random.nextInt(4) == 0 ? RocePacket.MAX_PAYLOAD : random.nextInt(70));
  }

  RandomPacket(PacketOpcode opcode, Random random, int payloadLength) {
    this.opcode = opcode;
    source = random.nextInt();
    destination = random.nextInt();
    sourcePort = random.nextInt(1 << 16);
    identification = random.nextInt(1 << 16);
    typeOfService = random.nextInt(1 << 8);
    timeToLive = random.nextInt(1 << 8);
    solicited = random.nextBoolean();
    migrated = random.nextBoolean();
    forwardCongestion = random.nextBoolean();
    backwardCongestion = random.nextBoolean();
    ackRequested = random.nextBoolean();
    partitionKey = random.nextInt(1 << 16);
    destinationQueuePair = random.nextInt(1 << 24);
    psn = random.nextInt(1 << 24);
    queueKey = random.nextInt();
    sourceQueuePair = random.nextInt(1 << 24);
    address = random.nextLong();
    remoteKey = random.nextInt();
    dmaLength = random.nextInt() & 0xffff_ffffL;
    swapOrAdd = random.nextLong();
    compare = random.nextLong();
    syndrome = random.nextInt(1 << 8);
    messageSequence = random.nextInt(1 << 24);
    original = random.nextLong();
    immediate = random.nextInt();
    invalidatedKey = random.nextInt();
    payload = new byte[opcode.carriesPayload() ? payloadLength : 0];
    random.nextBytes(payload);
  }

  /** Writes the fields with the frame's setters. */
  RocePacket write(RocePacket frame) {
    frame
        .start(opcode)
        .addresses(source, destination)
        .sourcePort(sourcePort)
        .identification(identification)
        .typeOfService(typeOfService)
        .timeToLive(timeToLive)
        .solicited(solicited)
        .migrated(migrated)
        .forwardCongestion(forwardCongestion)
        .backwardCongestion(backwardCongestion)
        .ackRequested(ackRequested)
        .partitionKey(partitionKey)
        .destinationQueuePair(destinationQueuePair)
        .psn(psn);
    if (opcode.has(ExtendedHeader.DETH)) {
      frame.queueKey(queueKey).sourceQueuePair(sourceQueuePair);
    }
    if (opcode.has(ExtendedHeader.RETH)) {
      frame.remoteAddress(address).remoteKey(remoteKey).dmaLength(dmaLength);
    }
    if (opcode.has(ExtendedHeader.ATOMIC_ETH)) {
      frame.remoteAddress(address).remoteKey(remoteKey).swapOrAdd(swapOrAdd).compare(compare);
    }
    if (opcode.has(ExtendedHeader.AETH)) {
      frame.syndrome(syndrome).messageSequence(messageSequence);
    }
    if (opcode.has(ExtendedHeader.ATOMIC_ACK_ETH)) {
      frame.original(original);
    }
    if (opcode.has(ExtendedHeader.IMM_DT)) {
      frame.immediate(immediate);
    }
    if (opcode.has(ExtendedHeader.IETH)) {
      frame.invalidatedKey(invalidatedKey);
    }
    return frame.append(ByteBuffer.wrap(payload), 0, payload.length).seal();
  }

  /** Asserts that the frame's getters return these fields. */
  void assertIn(RocePacket frame) {
    assertThat(frame.typeOfService()).isEqualTo(typeOfService);
    assertThat(frame.timeToLive()).isEqualTo(timeToLive);
    assertThat(frame.forwardCongestion()).isEqualTo(forwardCongestion);
    assertThat(frame.backwardCongestion()).isEqualTo(backwardCongestion);
    assertInvariantIn(frame);
  }

  /** Asserts the fields that routers leave unchanged and UDP sockets can carry. */
  void assertInvariantIn(RocePacket frame) {
    assertThat(frame.opcode()).isEqualTo(opcode);
    assertThat(frame.sourceAddress()).isEqualTo(source);
    assertThat(frame.destinationAddress()).isEqualTo(destination);
    assertThat(frame.sourcePort()).isEqualTo(sourcePort);
    assertThat(frame.identification()).isEqualTo(identification);
    assertThat(frame.solicited()).isEqualTo(solicited);
    assertThat(frame.migrated()).isEqualTo(migrated);
    assertThat(frame.ackRequested()).isEqualTo(ackRequested);
    assertThat(frame.partitionKey()).isEqualTo(partitionKey);
    assertThat(frame.destinationQueuePair()).isEqualTo(destinationQueuePair);
    assertThat(frame.psn()).isEqualTo(psn);
    if (opcode.has(ExtendedHeader.DETH)) {
      assertThat(frame.queueKey()).isEqualTo(queueKey);
      assertThat(frame.sourceQueuePair()).isEqualTo(sourceQueuePair);
    }
    if (opcode.has(ExtendedHeader.RETH)) {
      assertThat(frame.remoteAddress()).isEqualTo(address);
      assertThat(frame.remoteKey()).isEqualTo(remoteKey);
      assertThat(frame.dmaLength()).isEqualTo(dmaLength);
    }
    if (opcode.has(ExtendedHeader.ATOMIC_ETH)) {
      assertThat(frame.remoteAddress()).isEqualTo(address);
      assertThat(frame.remoteKey()).isEqualTo(remoteKey);
      assertThat(frame.swapOrAdd()).isEqualTo(swapOrAdd);
      assertThat(frame.compare()).isEqualTo(compare);
    }
    if (opcode.has(ExtendedHeader.AETH)) {
      assertThat(frame.syndrome()).isEqualTo(syndrome);
      assertThat(frame.messageSequence()).isEqualTo(messageSequence);
    }
    if (opcode.has(ExtendedHeader.ATOMIC_ACK_ETH)) {
      assertThat(frame.original()).isEqualTo(original);
    }
    if (opcode.has(ExtendedHeader.IMM_DT)) {
      assertThat(frame.immediate()).isEqualTo(immediate);
    }
    if (opcode.has(ExtendedHeader.IETH)) {
      assertThat(frame.invalidatedKey()).isEqualTo(invalidatedKey);
    }
    byte[] read = new byte[payload.length];
    assertThat(frame.payloadLength()).isEqualTo(payload.length);
    frame.copyPayload(0, ByteBuffer.wrap(read), 0, read.length);
    assertThat(read).isEqualTo(payload);
  }

  /** Returns the bytes between UDP header and ICRC, built from the tables of the specification. */
  byte[] transportBytes() {
    int pad = (4 - payload.length % 4) % 4;
    ByteBuffer bytes = ByteBuffer.allocate(RocePacket.CAPACITY);
    bytes.put((byte) opcode.code());
    bytes.put((byte) ((solicited ? 128 : 0) + (migrated ? 64 : 0) + 16 * pad));
    bytes.putShort((short) partitionKey);
    bytes.put((byte) ((forwardCongestion ? 128 : 0) + (backwardCongestion ? 64 : 0)));
    put24(bytes, destinationQueuePair);
    bytes.put((byte) (ackRequested ? 128 : 0));
    put24(bytes, psn);
    switch (opcode.code() & 0x1f) {
      case 0x06, 0x0a, 0x0c -> reth(bytes);
      case 0x0b -> reth(bytes).putInt(immediate);
      case 0x0d, 0x0f, 0x10, 0x11 -> aeth(bytes);
      case 0x12 -> aeth(bytes).putLong(original);
      case 0x13, 0x14 ->
          bytes.putLong(address).putInt(remoteKey).putLong(swapOrAdd).putLong(compare);
      case 0x03, 0x09 -> bytes.putInt(immediate);
      case 0x04 -> deth(bytes);
      case 0x05 -> deth(bytes).putInt(immediate);
      case 0x16, 0x17 -> bytes.putInt(invalidatedKey);
      case 0x01 -> bytes.put(new byte[opcode.code() == 0x81 ? 16 : 0]);
      default -> {}
    }
    bytes.put(payload).put(new byte[pad]);
    byte[] written = new byte[bytes.position()];
    bytes.get(0, written);
    return written;
  }

  private ByteBuffer reth(ByteBuffer bytes) {
    return bytes.putLong(address).putInt(remoteKey).putInt((int) dmaLength);
  }

  private ByteBuffer aeth(ByteBuffer bytes) {
    bytes.put((byte) syndrome);
    return put24(bytes, messageSequence);
  }

  private ByteBuffer deth(ByteBuffer bytes) {
    return opcode.code() >>> 5 == 3
        ? put24(bytes.putInt(queueKey).put((byte) 0), sourceQueuePair)
        : bytes;
  }

  private static ByteBuffer put24(ByteBuffer bytes, int value) {
    return bytes.put((byte) (value >>> 16)).putShort((short) value);
  }
}
