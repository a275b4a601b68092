// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestHost.Region;
import io.verbena.emulated.engine.TestWire.Packet;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.QueuePairType;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SendWorkRequest;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests UC: no acknowledgements, and a message that lost a packet is dropped. */
class UnreliableTest {
  private final Pair pair = Pair.of(QueuePairType.UC);

  @ParameterizedTest
  @EnumSource(
      names = {
        "SEND",
        "SEND_WITH_IMM",
        "SEND_OF_NOTHING",
        "SEND_INLINE",
        "WRITE",
        "WRITE_WITH_IMM"
      })
  void doesEachOperationWithoutAnAnswer(Operation operation) {
    operation.doOn(pair);

    assertThat(pair.wire.sentBy(false)).isEmpty();
    assertThat(pair.wire.sent).noneMatch(packet -> packet.frame().ackRequested());
  }

  @Test
  void completesARequestWithItsLastPacket() {
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.a.post(pair.send(1, 0, 5_000));

    assertThat(pair.wire.sent).hasSize(5);
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 SUCCESS SEND 5000");
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void dropsAMessageThatLostAPacketAndKeepsItsReceive(int lost) {
    pair.wire.fault = TestWire.dropping(lost);
    pair.receiveAtB(8, 0, 3_000);
    pair.receiveAtB(9, 3_000, 3_000);
    pair.a.queue(pair.send(1, 0, 3_000));
    pair.a.queue(pair.send(2, 500, 2_500));
    pair.a.run();
    pair.run();

    assertThat(pair.b.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("8 SUCCESS RECV 2500");
    assertThat(Operation.part(pair.atB.bytes, 0, 2_500))
        .isEqualTo(Operation.part(pair.atA.bytes, 500, 2_500));
    assertThat(pair.b.host.receives).hasSize(1);
  }

  @Test
  void dropsTheRestOfAMessageWhoseStartWasLostEvenIfItsPsnsFollow() {
    pair.deliverToB(pair.toB(PacketOpcode.UC_SEND_ONLY, Pair.A_PSN, 0));
    pair.receiveAtB(8, 0, 3_000);
    pair.deliverToB(pair.toB(PacketOpcode.UC_SEND_MIDDLE, Pair.A_PSN + 2, Pair.MTU));
    pair.deliverToB(pair.toB(PacketOpcode.UC_SEND_LAST, Pair.A_PSN + 3, 1));
    pair.deliverToB(pair.toB(PacketOpcode.UC_SEND_ONLY, Pair.A_PSN + 4, 5));

    assertThat(pair.b.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("8 SUCCESS RECV 5");
  }

  @Test
  void takesADoubledMessageForASecondOne() {
    pair.receiveAtB(8, 0, 10);
    pair.receiveAtB(9, 0, 10);
    pair.wire.fault =
        (index, packet, delivery) -> {
          delivery.after(TestWire.FLIGHT_NANOS);
          delivery.after(2 * TestWire.FLIGHT_NANOS);
        };
    pair.a.post(pair.send(1, 0, 10));
    pair.run();

    assertThat(pair.b.host.receivesDone).hasSize(2);
  }

  @Test
  void dropsAMessageWithoutAReceive() {
    pair.a.post(pair.send(1, 0, 10));
    pair.run();
    pair.receiveAtB(8, 0, 10);
    pair.run();

    assertThat(pair.b.host.receivesDone).isEmpty();
    assertThat(pair.wire.sent).hasSize(1);
  }

  @Test
  void dropsAMessageLargerThanItsReceiveAndKeepsIt() {
    pair.receiveAtB(8, 0, 2_000);
    pair.a.queue(pair.send(1, 0, 2_001));
    pair.a.queue(pair.send(2, 0, 2_000));
    pair.a.run();
    pair.run();

    assertThat(pair.b.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("8 SUCCESS RECV 2000");
  }

  @Test
  void failsAReceiveOfASharedQueueThatIsTooSmallAndGoesOn() {
    Pair sharing = Pair.sharingReceives(QueuePairType.UC);
    sharing.receiveAtB(8, 0, 10);
    sharing.receiveAtB(9, 0, 20);
    sharing.a.queue(sharing.send(1, 0, 11));
    sharing.a.queue(sharing.send(2, 0, 12));
    sharing.a.run();
    sharing.run();

    assertThat(sharing.b.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("8 LOC_LEN_ERR", "9 SUCCESS RECV 12");
    assertThat(sharing.b.engine.state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void dropsWritesThatAreNotAllowed() {
    byte[] before = pair.atB.bytes.clone();
    pair.a.post(pair.fill(new SendWorkRequest().id(1).write(pair.atB.address, 0xbad), 0, 2_000));
    pair.a.post(pair.write(2, 0, 2_000, Pair.SIZE - 1_999));
    pair.b.attributes.access(Set.of());
    pair.run();
    pair.b.modify(QueuePairState.RTS);
    pair.a.post(pair.write(3, 0, 2_000, 0));
    pair.run();

    assertThat(pair.atB.bytes).isEqualTo(before);
    assertThat(pair.b.engine.state()).isEqualTo(QueuePairState.RTS);
    assertThat(pair.b.host.events).isEmpty();
    assertThat(pair.a.host.sendsDone).extracting(Done::id).containsExactly(1L, 2L, 3L);
  }

  @Test
  void stopsForAReceiveIntoMemoryThatMayNotBeWritten() {
    Region readOnly = pair.b.host.register(100, 0);
    pair.b.postReceive(new ReceiveWorkRequest().id(9).buffer(readOnly.address, 10, readOnly.key));
    pair.a.post(pair.send(1, 0, 10));
    pair.run();

    assertThat(pair.b.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("9 LOC_PROT_ERR");
    assertThat(pair.b.engine.state()).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void stopsOnlyItsSendQueueForALocalFailure() {
    pair.a.queue(pair.send(1, 0, 10).buffer(pair.atA.address, 10, 0xbad));
    pair.a.queue(pair.send(2, 0, 10));
    pair.a.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 LOC_PROT_ERR", "2 WR_FLUSH_ERR");
    assertThat(pair.a.host.moves).containsExactly(QueuePairState.SQE);

    pair.a.post(pair.send(3, 0, 10));
    assertThat(pair.a.host.sendsDone).last().hasToString("3 WR_FLUSH_ERR");

    pair.a.postReceive(new ReceiveWorkRequest().id(9).buffer(pair.atA.address, 10, pair.atA.key));
    pair.b.post(new SendWorkRequest().send().buffer(pair.atB.address, 10, pair.atB.key));
    pair.run();
    assertThat(pair.a.host.receivesDone)
        .extracting(Done::toString)
        .containsExactly("9 SUCCESS RECV 10");

    pair.receiveAtB(10, 0, 10);
    pair.a.modify(QueuePairState.RTS);
    pair.a.post(pair.send(4, 0, 10));
    pair.run();
    assertThat(pair.a.host.sendsDone).last().hasToString("4 SUCCESS SEND 10");
    assertThat(pair.b.host.receivesDone).extracting(Done::id).containsExactly(10L);
  }

  @ParameterizedTest
  @EnumSource(names = {"READ", "FETCH_AND_ADD", "COMPARE_AND_SWAP"})
  void hasNoReadsAndAtomics(Operation operation) {
    operation.post(pair, 1);

    assertThat(pair.a.host.sendsDone).extracting(Done::toString).containsExactly("1 LOC_QP_OP_ERR");
  }

  @Test
  void tellsThatThePeerIsThereBeforeReadyToSend() {
    for (QueuePairState state :
        new QueuePairState[] {QueuePairState.RESET, QueuePairState.INIT, QueuePairState.RTR}) {
      pair.b.modify(state);
    }
    pair.a.post(pair.write(1, 0, 10, 0));
    pair.run();

    assertThat(pair.b.host.events).containsExactly(AsyncEvent.Type.COMM_EST);
  }

  @Test
  void drainsAtOnce() {
    pair.a.attributes.drainedNotify(true);
    pair.a.queue(pair.send(1, 0, 5_000));
    pair.a.engine.run(2);
    pair.a.modify(QueuePairState.SQD);

    assertThat(pair.wire.sent)
        .extracting(Packet::opcode)
        .last()
        .isEqualTo(PacketOpcode.UC_SEND_LAST);
    assertThat(pair.a.host.events).containsExactly(AsyncEvent.Type.SQ_DRAINED);
  }
}
