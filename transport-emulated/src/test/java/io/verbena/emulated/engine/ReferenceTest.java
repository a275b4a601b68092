// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.Psn;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * Tests packets that refer to their payload, which stays at the sender until the receiver copies
 * it.
 */
class ReferenceTest {
  private static final int LENGTH = 9 * Pair.MTU - 100;
  private static final int PACKETS = 9;
  private static final int TO = 4096;

  private final Pair pair = Pair.reliable().sharing();

  private List<PacketOpcode> requests() {
    return pair.wire.sentBy(true).stream()
        .map(TestWire.Packet::opcode)
        .filter(PacketOpcode::isRequest)
        .toList();
  }

  private byte[] atB(int length) {
    return Arrays.copyOfRange(pair.atB.bytes, TO, TO + length);
  }

  private byte[] atA(int length) {
    return Arrays.copyOf(pair.atA.bytes, length);
  }

  private ReceiveWorkRequest receive(long id) {
    return new ReceiveWorkRequest()
        .id(id)
        .buffer(pair.atB.address + TO, Pair.SIZE - TO, pair.atB.key);
  }

  @Test
  void oneTakesAsManyPsnsAsItsPayloadWouldTakePackets() {
    pair.b.host.receives.add(receive(7));

    pair.a.post(pair.send(1, 0, LENGTH));
    pair.run();
    pair.a.post(pair.write(2, 0, 8, TO + LENGTH));
    pair.run();

    assertThat(requests()).containsExactly(PacketOpcode.RC_SEND_ONLY, PacketOpcode.RC_WRITE_ONLY);
    assertThat(pair.wire.sentBy(true).get(1).psn()).isEqualTo(Psn.plus(Pair.A_PSN, PACKETS));
    assertThat(pair.a.host.sendsDone).extracting(TestHost.Done::status).containsOnly(success());
    assertThat(pair.b.host.receivesDone).extracting(TestHost.Done::byteLength).containsOnly(LENGTH);
    assertThat(atB(LENGTH)).isEqualTo(atA(LENGTH));
  }

  private static CompletionStatus success() {
    return CompletionStatus.SUCCESS;
  }

  @Test
  void theAnswerToAReadIsOneAsWell() {
    pair.a.post(pair.read(1, 0, LENGTH, TO));
    pair.run();

    assertThat(pair.wire.sentBy(false))
        .extracting(TestWire.Packet::opcode)
        .containsExactly(PacketOpcode.RC_READ_RESPONSE_ONLY);
    assertThat(pair.a.host.sendsDone).extracting(TestHost.Done::status).containsOnly(success());
    assertThat(atA(LENGTH)).isEqualTo(atB(LENGTH));
  }

  @Test
  void aMessageInSeveralPiecesRefersToWholePacketsOfEach() {
    SendWorkRequest write =
        new SendWorkRequest(2).id(1).write(pair.atB.address + TO, pair.atB.key).signaled();
    write.buffers().add(pair.atA.address, 9 * Pair.MTU + 10, pair.atA.key);
    write.buffers().add(pair.atA.address + 9 * Pair.MTU + 10, 10 * Pair.MTU, pair.atA.key);

    pair.a.post(write);
    pair.run();

    assertThat(pair.wire.sentBy(true))
        .extracting(packet -> packet.frame().payloadLength())
        .containsExactly(9 * Pair.MTU, Pair.MTU, 9 * Pair.MTU + 10);
    assertThat(pair.wire.sentBy(true))
        .extracting(packet -> packet.frame().isReferring())
        .containsExactly(true, false, true);
    assertThat(atB(19 * Pair.MTU + 10)).isEqualTo(atA(19 * Pair.MTU + 10));
  }

  @Test
  void shortPayloadIsInThePacket() {
    pair.a.post(pair.write(1, 0, Pair.MTU, TO));
    pair.run();

    assertThat(pair.wire.sentBy(true).get(0).frame().isReferring()).isFalse();
  }

  @Test
  void whatAQueuePairSentBeforeItStoppedIsWorthNothing() {
    pair.b.host.receives.add(receive(7));
    pair.wire.fault = (index, packet, delivery) -> delivery.after(1_000_000);
    pair.a.queue(pair.send(1, 0, LENGTH));
    pair.a.run();

    pair.a.modify(QueuePairState.ERR);
    assertThat(pair.a.host.sendsDone)
        .extracting(TestHost.Done::status)
        .containsOnly(CompletionStatus.WR_FLUSH_ERR);
    Arrays.fill(pair.atA.bytes, (byte) 0);
    pair.run();

    assertThat(pair.wire.sentBy(true)).hasSize(1);
    assertThat(pair.b.host.receivesDone).isEmpty();
    assertThat(pair.b.engine.state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void anAnswerToMoreThanWasAskedForFailsTheRead() {
    Pair parts = Pair.reliable(new FlowControl(20, 2, true, false), attributes -> {}).sharing();
    parts.wire.fault = (index, packet, delivery) -> {};
    parts.a.post(parts.read(1, 0, LENGTH, TO));
    RocePacket answer =
        TestWire.copy(
            new RocePacket()
                .start(PacketOpcode.RC_READ_RESPONSE_ONLY)
                .destinationQueuePair(parts.a.number)
                .psn(Pair.A_PSN)
                .syndrome(Aeth.ack(Aeth.UNLIMITED_CREDITS)));
    answer.reference().found(ByteBuffer.allocate(LENGTH), 0, () -> true);

    parts.a.receive(answer.refer(LENGTH));

    assertThat(parts.a.host.sendsDone)
        .extracting(TestHost.Done::status)
        .containsExactly(CompletionStatus.LOC_LEN_ERR);
  }

  @Test
  void onlyAMessagesEndMayBeLessThanWholePackets() {
    RocePacket first =
        TestWire.copy(
            new RocePacket()
                .start(PacketOpcode.RC_WRITE_FIRST)
                .destinationQueuePair(pair.b.number)
                .psn(Pair.A_PSN)
                .remoteAddress(pair.atB.address)
                .remoteKey(pair.atB.key)
                .dmaLength(8 * Pair.MTU));
    first.reference().found(ByteBuffer.allocate(8 * Pair.MTU), 0, () -> true);
    first.refer(2 * Pair.MTU + 1);

    pair.b.receive(first);
    pair.run();

    assertThat(pair.b.engine.state()).isEqualTo(QueuePairState.ERR);
    assertThat(pair.wire.sentBy(false))
        .extracting(TestWire.Packet::syndrome)
        .containsExactly(Aeth.INVALID_REQUEST);
  }
}
