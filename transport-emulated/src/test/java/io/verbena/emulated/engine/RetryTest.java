// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.engine.TestWire.Packet;
import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.Psn;
import io.verbena.emulated.roce.RnrTimer;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairAttributes;
import io.verbena.verbs.QueuePairState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests when a requester retransmits and when it gives up. */
class RetryTest {
  private static final TestWire.Fault CUT = (index, packet, delivery) -> {};

  /** Records when packets are sent, and drops them. */
  private static List<Long> timesOfSending(Pair pair) {
    List<Long> times = new ArrayList<>();
    pair.wire.fault = (index, packet, delivery) -> times.add(pair.time.now());
    return times;
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 3, 7})
  void givesUpAfterRetryCountTimeouts(int retryCount) {
    Pair pair = Pair.reliable(attributes -> attributes.retryCount(retryCount).timeout(14));
    List<Long> times = timesOfSending(pair);
    long start = pair.time.now();
    pair.a.queue(pair.write(1, 0, 10, 0));
    pair.a.queue(pair.write(2, 0, 10, 0));
    pair.a.run();
    pair.run();

    assertThat(times).hasSize(2 * (retryCount + 1));
    assertThat(pair.time.now() - start).isEqualTo((retryCount + 1) * (4096L << 14));
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 RETRY_EXC_ERR", "2 WR_FLUSH_ERR");
    assertThat(pair.a.host.moves).containsExactly(QueuePairState.ERR);
    assertThat(pair.a.engine.state()).isEqualTo(QueuePairState.ERR);
  }

  @Test
  void neverTimesOutWithTimeoutZero() {
    Pair pair = Pair.reliable(attributes -> attributes.timeout(0));
    pair.wire.fault = CUT;
    pair.a.post(pair.write(1, 0, 10, 0));
    pair.run();

    assertThat(pair.wire.sent).hasSize(1);
    assertThat(pair.a.host.sendsDone).isEmpty();
  }

  @Test
  void repairsALossWithoutTimeoutWhenMoreFollows() {
    Pair pair = Pair.reliable(attributes -> attributes.timeout(0));
    pair.wire.fault = TestWire.dropping(1);
    pair.a.post(pair.write(1, 0, 5 * Pair.MTU, 0));
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS);
    assertThat(pair.wire.sentBy(false))
        .extracting(Packet::syndrome)
        .containsExactly(Aeth.SEQUENCE_ERROR, 0x1f);
  }

  @Test
  void repairsOneLossAfterAnotherWithoutTimeout() {
    Pair pair = Pair.reliable(attributes -> attributes.timeout(0).retryCount(1));
    pair.wire.fault =
        (index, packet, delivery) -> {
          // Packet 1 is lost once, packet 4 twice, packet 7 three times.
          int place = Psn.difference(packet.psn(), Pair.A_PSN);
          long before =
              pair.wire.sent.subList(0, index).stream()
                  .filter(earlier -> earlier.psn() == packet.psn())
                  .count();
          if (!packet.fromA() || place % 3 != 1 || place > 7 || before > place / 3) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };
    pair.a.post(pair.write(1, 0, 12 * Pair.MTU, 0));
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS);
    assertThat(pair.wire.sentBy(false))
        .filteredOn(packet -> packet.syndrome() == Aeth.SEQUENCE_ERROR)
        .hasSize(3);
  }

  @Test
  void asksAgainForALostReadResponseWhenALaterAnswerComes() {
    Pair pair = Pair.reliable(attributes -> attributes.timeout(0));
    int[] lost = {0};
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (packet.opcode() != PacketOpcode.RC_READ_RESPONSE_ONLY || lost[0]++ > 0) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };
    pair.a.queue(pair.read(1, 0, 10, 0));
    pair.a.queue(pair.write(2, 0, 10, 100));
    pair.a.run();
    pair.run();

    assertThat(pair.a.host.sendsDone).extracting(Done::id).containsExactly(1L, 2L);
  }

  @Test
  void getsAllItsRetriesBackWithProgress() {
    Pair pair = Pair.reliable(attributes -> attributes.retryCount(1));
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (index % 3 != 0) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };
    for (int i = 0; i < 20; i++) {
      pair.a.post(pair.write(i, 0, 10, 0));
      pair.run();
    }

    assertThat(pair.a.host.sendsDone)
        .hasSize(20)
        .allMatch(done -> done.status() == CompletionStatus.SUCCESS);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 12, 31})
  void waitsAsLongAsTheReceiverAsks(int code) {
    Pair pair = Pair.reliable(attributes -> attributes.minRnrTimer(code).timeout(0));
    List<Long> times = new ArrayList<>();
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (packet.fromA()) {
            times.add(pair.time.now());
          }
          delivery.after(TestWire.FLIGHT_NANOS);
        };
    pair.a.post(pair.send(1, 0, 10));
    pair.run(3 * TestWire.FLIGHT_NANOS);
    pair.receiveAtB(2, 0, 10);
    pair.run();

    assertThat(times).hasSize(2);
    assertThat(times.get(1) - times.get(0))
        .isEqualTo(2 * TestWire.FLIGHT_NANOS + RnrTimer.nanos(code));
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 6})
  void givesUpAfterRnrRetryNaks(int rnrRetry) {
    Pair pair = Pair.reliable(attributes -> attributes.rnrRetry(rnrRetry));
    pair.a.queue(pair.send(1, 0, 10));
    pair.a.queue(pair.read(2, 0, 10, 0));
    pair.a.run();
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::toString)
        .containsExactly("1 RNR_RETRY_EXC_ERR", "2 WR_FLUSH_ERR");
    assertThat(pair.wire.sentBy(false)).hasSize(rnrRetry + 1);
  }

  @Test
  void waitsForAReceiverForEverWithRnrRetrySeven() {
    Pair pair = Pair.reliable(attributes -> attributes.retryCount(0));
    pair.a.post(pair.send(1, 0, 10));
    pair.run(1_000_000_000);

    assertThat(pair.wire.sentBy(false)).hasSizeGreaterThan(100);
    assertThat(pair.a.host.sendsDone).isEmpty();

    pair.receiveAtB(2, 0, 10);
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS);
  }

  @Test
  void takesUpAnotherRnrRetryInSqd() {
    Pair pair = Pair.reliable(attributes -> attributes.rnrRetry(0));
    changeInSqd(pair.a, attributes -> attributes.rnrRetry(7));

    pair.a.post(pair.send(1, 0, 10));
    pair.run(1_000_000_000);
    assertThat(pair.a.host.sendsDone).isEmpty();
    pair.receiveAtB(2, 0, 10);
    pair.run();

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS);
  }

  @Test
  void takesUpAnotherRetryCountInSqd() {
    Pair pair = Pair.reliable(attributes -> attributes.retryCount(7));
    changeInSqd(pair.a, attributes -> attributes.retryCount(1));
    pair.wire.fault = CUT;

    pair.a.post(pair.write(1, 0, 10, 0));
    pair.run();

    assertThat(pair.wire.sent).hasSize(2);
    assertThat(pair.a.host.sendsDone).extracting(Done::toString).containsExactly("1 RETRY_EXC_ERR");
  }

  private static void changeInSqd(End end, Consumer<QueuePairAttributes> change) {
    end.modify(QueuePairState.SQD);
    change.accept(end.attributes);
    end.modify(QueuePairState.SQD);
    end.modify(QueuePairState.RTS);
  }

  @Test
  void isSilentBehindAPacketThatFoundNoReceive() {
    Pair pair = Pair.reliable();
    for (int i = 0; i < 5; i++) {
      pair.a.queue(pair.send(i, 0, 10));
    }
    pair.a.run();
    pair.run(3 * TestWire.FLIGHT_NANOS);

    assertThat(pair.wire.sentBy(false)).hasSize(1);
    assertThat(pair.wire.sentBy(false).get(0).psn()).isEqualTo(Pair.A_PSN);
  }

  private static RocePacket answer(int psn, int syndrome) {
    return TestWire.copy(
        new RocePacket().start(PacketOpcode.RC_ACKNOWLEDGE).psn(psn).syndrome(syndrome));
  }

  @Test
  void doesNotCutShortTheWaitForAReceiverForALostPacket() {
    Pair pair = Pair.reliable();
    pair.wire.fault = CUT;
    pair.a.post(pair.send(1, 0, 10));
    pair.a.receive(answer(Pair.A_PSN, Aeth.rnrNak(20)));
    pair.a.receive(answer(Pair.A_PSN, Aeth.SEQUENCE_ERROR));
    pair.run(RnrTimer.nanos(20) - 1);

    assertThat(pair.wire.sent).hasSize(1);

    pair.run(1);

    assertThat(pair.wire.sent).hasSize(2);
  }

  @Test
  void countsADoubledRnrNakOnce() {
    Pair pair = Pair.reliable(attributes -> attributes.rnrRetry(1));
    pair.wire.fault = CUT;
    pair.a.post(pair.send(1, 0, 10));
    pair.a.receive(answer(Pair.A_PSN, Aeth.rnrNak(20)));
    pair.a.receive(answer(Pair.A_PSN, Aeth.rnrNak(20)));

    assertThat(pair.a.host.sendsDone).isEmpty();
    assertThat(pair.a.engine.state()).isEqualTo(QueuePairState.RTS);
  }

  @Test
  void endsTheWaitForAReceiverWhenTheMessageTurnsOutToHaveArrived() {
    Pair pair = Pair.reliable();
    pair.wire.fault = CUT;
    pair.a.post(pair.send(1, 0, 10));
    pair.a.receive(answer(Pair.A_PSN, Aeth.rnrNak(20)));
    pair.a.receive(answer(Pair.A_PSN, Aeth.ack(31)));
    pair.a.post(pair.send(2, 0, 10));

    assertThat(pair.a.host.sendsDone).extracting(Done::id).containsExactly(1L);
    assertThat(pair.wire.sent).extracting(Packet::psn).containsExactly(Pair.A_PSN, Pair.A_PSN + 1);
  }

  @Test
  void doesNotSendAgainWhatIsAcknowledgedMeanwhile() {
    Pair pair = Pair.reliable();
    pair.wire.fault = CUT;
    for (int i = 0; i < 4; i++) {
      pair.a.queue(pair.write(i, 0, 2 * Pair.MTU, 0));
    }
    pair.a.run();
    // The NAK starts over from packet 0; before that is sent, packets 0 to 4 are acknowledged.
    pair.a.engine.receive(answer(Pair.A_PSN, Aeth.SEQUENCE_ERROR));
    pair.a.engine.receive(answer(Pair.A_PSN + 4, Aeth.ack(31)));
    pair.a.run();

    assertThat(pair.wire.sent.subList(8, pair.wire.sent.size()))
        .extracting(Packet::psn)
        .containsExactly(Pair.A_PSN + 5, Pair.A_PSN + 6, Pair.A_PSN + 7);
  }

  @Test
  void dropsAnswersToWhatWasNeverSent() {
    Pair pair = Pair.reliable();
    pair.wire.fault = CUT;
    pair.a.post(pair.write(1, 0, 10, 0));
    pair.a.receive(answer(Pair.A_PSN + 1, Aeth.ack(31)));
    pair.a.receive(answer(Pair.A_PSN - 1, Aeth.REMOTE_ACCESS_ERROR));

    assertThat(pair.a.host.sendsDone).isEmpty();
  }

  @Test
  void startsOneRetryForManySignsOfOneLoss() {
    Pair pair = Pair.reliable(attributes -> attributes.retryCount(2));
    int[] lost = {0};
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (packet.opcode() != PacketOpcode.RC_READ_RESPONSE_ONLY || lost[0]++ > 0) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };
    pair.a.queue(pair.read(1, 0, 10, 0));
    for (int i = 2; i < 12; i++) {
      pair.a.queue(pair.write(i, 0, 10, 100));
      pair.a.run();
    }
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(11);
    assertThat(pair.a.host.sendsDone).allMatch(done -> done.status() == CompletionStatus.SUCCESS);
    assertThat(pair.wire.sentBy(true))
        .filteredOn(packet -> packet.opcode() == PacketOpcode.RC_READ_REQUEST)
        .hasSize(2);
  }
}
