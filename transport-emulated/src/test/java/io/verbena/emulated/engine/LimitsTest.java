// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestWire.Packet;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairState;
import io.verbena.verbs.SendWorkRequest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the limits at which a requester waits. */
class LimitsTest {
  private static final TestWire.Fault CUT = (index, packet, delivery) -> {};

  @Test
  void asksForAnAcknowledgementEverySixtyFourPackets() {
    Pair pair = Pair.reliable();
    pair.wire.fault = CUT;
    SendWorkRequest large = new SendWorkRequest(4).write(pair.atB.address, pair.atB.key);
    for (int i = 0; i < 4; i++) {
      large.buffers().add(pair.atA.address, Pair.SIZE, pair.atA.key);
    }
    pair.a.post(large);

    assertThat(pair.wire.sent).hasSize(Requester.MAX_UNACKNOWLEDGED);
    for (int i = 0; i < pair.wire.sent.size(); i++) {
      assertThat(pair.wire.sent.get(i).frame().ackRequested())
          .isEqualTo(i % Requester.ACK_INTERVAL == Requester.ACK_INTERVAL - 1);
    }
  }

  @Test
  void bringsAMessageOfMoreThanAWindow() {
    Pair pair = Pair.reliable();
    TestHost.Region from = pair.a.host.register(700 * Pair.MTU + 5);
    TestHost.Region to = pair.b.host.register(700 * Pair.MTU + 5);
    new java.util.Random(5).nextBytes(from.bytes);
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (index % 97 != 96) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };
    pair.a.post(
        new SendWorkRequest()
            .write(to.address, to.key)
            .buffer(from.address, from.bytes.length, from.key)
            .signaled());
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS);
    assertThat(to.bytes).isEqualTo(from.bytes);
  }

  @Test
  void readsMoreThanAWindow() {
    Pair pair = Pair.reliable();
    TestHost.Region to = pair.a.host.register(700 * Pair.MTU + 5);
    TestHost.Region from = pair.b.host.register(700 * Pair.MTU + 5);
    new java.util.Random(5).nextBytes(from.bytes);
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (index % 97 != 96) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };
    pair.a.post(
        new SendWorkRequest()
            .read(from.address, from.key)
            .buffer(to.address, to.bytes.length, to.key)
            .signaled());
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS);
    assertThat(to.bytes).isEqualTo(from.bytes);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  void hasNoMoreReadsAndAtomicsOutThanAllowed(int limit) {
    Pair pair = Pair.reliable(attributes -> attributes.maxReadAtomic(limit));
    pair.wire.fault = CUT;
    for (int i = 0; i < 5; i++) {
      pair.a.queue(i % 2 == 0 ? pair.read(i, 0, 10, 0) : pair.fetchAndAdd(i, 0, 0, 1));
    }
    pair.a.run();

    assertThat(pair.wire.sent).hasSize(limit);
  }

  @Test
  void goesOnWithReadsAsEarlierOnesAreDone() {
    Pair pair = Pair.reliable(attributes -> attributes.maxReadAtomic(1));
    for (int i = 0; i < 5; i++) {
      pair.a.queue(i % 2 == 0 ? pair.read(i, 0, 10, 0) : pair.fetchAndAdd(i, 0, 0, 1));
    }
    pair.a.run();
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(5);
  }

  @Test
  void failsAReadThatMayNeverBeOut() {
    Pair pair = Pair.reliable(attributes -> attributes.maxReadAtomic(0));
    pair.a.post(pair.read(1, 0, 10, 0));

    assertThat(pair.a.host.sendsDone).extracting(Done::toString).containsExactly("1 LOC_QP_OP_ERR");
  }

  @Test
  void letsAWritePassAReadButNotWithAFence() {
    Pair pair = Pair.reliable();
    pair.wire.fault = CUT;
    pair.a.queue(pair.read(1, 0, 10, 0));
    pair.a.queue(pair.write(2, 0, 10, 0));
    pair.a.queue(pair.write(3, 0, 10, 0).fence());
    pair.a.run();

    assertThat(pair.wire.sent)
        .extracting(Packet::opcode)
        .containsExactly(PacketOpcode.RC_READ_REQUEST, PacketOpcode.RC_WRITE_ONLY);
  }

  @Test
  void startsAFencedRequestWhenTheReadsAreDone() {
    Pair pair = Pair.reliable();
    pair.a.queue(pair.read(1, 0, 10, 0));
    pair.a.queue(pair.fetchAndAdd(2, 100, 0, 1));
    pair.a.queue(pair.write(3, 0, 10, 0).fence());
    pair.a.run();
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(3);
    assertThat(Operation.part(pair.atB.bytes, 8, 2))
        .isEqualTo(Operation.part(pair.atA.bytes, 8, 2));
    int fenced = pair.wire.sent.size() - 2;
    assertThat(pair.wire.sent.get(fenced).opcode()).isEqualTo(PacketOpcode.RC_WRITE_ONLY);
  }

  @Test
  void drainsWhatWasBegunAndTellsItOnce() {
    Pair pair = Pair.reliable();
    pair.a.post(pair.write(1, 0, 5_000, 0));
    pair.a.attributes.drainedNotify(true);
    pair.a.modify(QueuePairState.SQD);
    pair.a.post(pair.write(2, 0, 10, 0));

    assertThat(pair.a.host.events).isEmpty();

    pair.run();

    assertThat(pair.a.host.sendsDone).extracting(Done::id).containsExactly(1L);
    assertThat(pair.a.host.events).containsExactly(AsyncEvent.Type.SQ_DRAINED);

    pair.a.modify(QueuePairState.RTS);
    pair.run();

    assertThat(pair.a.host.sendsDone).extracting(Done::id).containsExactly(1L, 2L);
    assertThat(pair.a.host.events).hasSize(1);
  }

  @Test
  void repairsLossesWhileItDrains() {
    Pair pair = Pair.reliable();
    pair.wire.fault = TestWire.dropping(2);
    pair.a.post(pair.write(1, 0, 5_000, 0));
    pair.a.attributes.drainedNotify(true);
    pair.a.modify(QueuePairState.SQD);
    pair.run();

    assertThat(pair.a.host.events).containsExactly(AsyncEvent.Type.SQ_DRAINED);
    assertThat(pair.a.host.sendsDone).hasSize(1);
  }

  @Test
  void drainsAtOnceWhatIsEmpty() {
    Pair pair = Pair.reliable();
    pair.a.attributes.drainedNotify(true);
    pair.a.modify(QueuePairState.SQD);

    assertThat(pair.a.host.events).containsExactly(AsyncEvent.Type.SQ_DRAINED);
  }

  @Test
  void drainsSilentlyUnlessAsked() {
    Pair pair = Pair.reliable();
    pair.a.modify(QueuePairState.SQD);
    pair.run();

    assertThat(pair.a.host.events).isEmpty();
  }

  @Test
  void answersThePeerWhileDrained() {
    Pair pair = Pair.reliable();
    pair.b.modify(QueuePairState.SQD);
    pair.a.post(pair.read(1, 0, 10, 0));
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(1);
  }
}
