// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.roce.Aeth;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.emulated.roce.RocePacket;
import io.verbena.verbs.CompletionStatus;
import io.verbena.verbs.QueuePairState;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests how much an engine has in flight on a network that drops packets at full buffers. */
class AdaptiveFlowTest {
  private static final int MOST = 16;
  private static final int PART = 4;

  private final ManualTimeline time = new ManualTimeline();
  private final FlowControl flow = new FlowControl(MOST, PART, /* adaptive= */ true, false);
  private final CongestionWindow window = new CongestionWindow(flow, time);

  @Test
  void halvesOnceForAllThatWasOutAtALoss() {
    window.lost(100);
    window.lost(100);
    assertThat(window.packets()).isEqualTo(MOST / 2);

    window.answered(1, 100);
    window.lost(120);
    assertThat(window.packets()).isEqualTo(MOST / 4);
  }

  @Test
  void opensAgainByOnePacketForEachWindowAndNotBeyondTheMost() {
    window.lost(100);
    int half = window.packets();
    window.answered(half, 100);
    assertThat(window.packets()).isBetween(half, half + 1);

    for (int i = 0; i < 1000; i++) {
      window.answered(1, 101 + i);
    }
    assertThat(window.packets()).isEqualTo(MOST);
  }

  @Test
  void startsOverWithOnePacketWhenNothingIsHeard() {
    window.silent(100);
    assertThat(window.packets()).isEqualTo(1);
    assertThat(window.ackInterval()).isEqualTo(1);
  }

  @Test
  void slowsDownForACongestionNotificationOnceInAWhile() {
    window.notified();
    window.notified();

    assertThat(window.packets()).isEqualTo(MOST - MOST / 8);
  }

  @Test
  void sendsFewerPacketsAtOnceAfterACongestionNotification() {
    Pair pair = Pair.reliable(flow, attributes -> {});
    pair.a.receive(new RocePacket().start(PacketOpcode.CONGESTION_NOTIFICATION));

    pair.a.post(pair.write(1, 0, MOST * Pair.MTU, 0));

    assertThat(pair.wire.sent).hasSize(MOST - MOST / 8);
    pair.run();
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
  }

  /** Marks a packet as a switch with a queue does. */
  private static void mark(TestWire.Packet packet) {
    packet.frame().forwardCongestion(true);
  }

  @Test
  void tellsThePeerOfCongestionThatItsPacketsMetOnceInAWhile() {
    Pair pair = Pair.reliable(flow, attributes -> {});
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (packet.fromA()) {
            mark(packet);
          }
          delivery.after(TestWire.FLIGHT_NANOS);
        };

    pair.a.post(pair.write(1, 0, MOST * Pair.MTU, 0));
    pair.run();
    assertThat(notifications(pair)).hasSize(1);
    assertThat(notifications(pair).get(0).frame().backwardCongestion()).isTrue();
    pair.time.turnTo(pair.time.now() + CongestionNotifier.INTERVAL_NANOS);
    pair.wire.sent.clear();

    pair.a.post(pair.write(2, 0, MOST * Pair.MTU, 0));
    assertThat(pair.wire.sent).as("slowed down").hasSizeLessThan(MOST);
    pair.run();

    assertThat(notifications(pair)).hasSize(1);
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsOnly(CompletionStatus.SUCCESS)
        .hasSize(2);
  }

  @Test
  void aMarkedNotificationIsNotItselfNotified() {
    Pair pair = Pair.reliable(flow, attributes -> {});
    RocePacket notification = new RocePacket().start(PacketOpcode.CONGESTION_NOTIFICATION);

    pair.a.receive(notification.forwardCongestion(true).backwardCongestion(true));
    pair.run();

    assertThat(pair.wire.sent).isEmpty();
  }

  private static List<TestWire.Packet> notifications(Pair pair) {
    return pair.wire.sentBy(false).stream()
        .filter(packet -> packet.opcode() == PacketOpcode.CONGESTION_NOTIFICATION)
        .toList();
  }

  @Test
  void asksForALongReadPartByPart() {
    Pair pair = Pair.reliable(flow, attributes -> {});

    pair.a.post(pair.read(1, 0, 20 * Pair.MTU, 0));

    assertThat(pair.wire.sent).as("two parts at once").hasSize(2);
    pair.run();
    assertThat(pair.a.host.sendsDone).hasSize(1);
    assertThat(pair.atA.bytes).startsWith(Arrays.copyOf(pair.atB.bytes, 20 * Pair.MTU));
  }

  @Test
  void learnsThatAnswersTakeLong() {
    Pair pair = Pair.reliable(flow, attributes -> attributes.timeout(20));
    pair.wire.fault = (index, packet, delivery) -> delivery.after(20_000_000);

    for (int i = 0; i < 20; i++) {
      pair.a.post(pair.write(i, 0, 8, 0));
      pair.run();
    }

    assertThat(pair.a.host.sendsDone).hasSize(20);
    assertThat(pair.wire.sentBy(true)).as("sent again only at first").hasSizeLessThan(24);
  }

  /** A late answer repeats one packet, not all outstanding ones, and does not shrink the window. */
  @Test
  void sendsOnePacketAgainWhereAllAnswersAreLate() {
    Pair pair = Pair.reliable(flow, attributes -> attributes.timeout(20));
    pair.wire.fault = (index, packet, delivery) -> delivery.after(7_000_000);

    pair.a.post(pair.write(1, 0, MOST * Pair.MTU, 0));
    assertThat(pair.wire.sent).hasSize(MOST);
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(1);
    assertThat(pair.wire.sentBy(true)).hasSizeBetween(MOST + 1, MOST + 2);
    pair.wire.sent.clear();
    pair.a.post(pair.write(2, 0, MOST * Pair.MTU, 0));
    assertThat(pair.wire.sent).as("the window is open").hasSize(MOST);
  }

  @Test
  void sendsTheOldestPacketAgainWhileOthersAreOnTheirWay() {
    Pair pair = Pair.reliable(flow, attributes -> attributes.timeout(20));
    pair.wire.fault = (index, packet, delivery) -> delivery.after(8_000_000);
    for (int i = 0; i < 3; i++) {
      pair.a.post(pair.read(i, 1_000 * i, 8, 8 * i));
    }

    pair.run(15_000_000);
    assertThat(pair.wire.sentBy(true))
        .extracting(TestWire.Packet::psn)
        .containsExactly(Pair.A_PSN, Pair.A_PSN + 1, Pair.A_PSN + 2, Pair.A_PSN);
    pair.run();

    assertThat(pair.wire.sentBy(true)).hasSizeLessThanOrEqualTo(5);
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsOnly(CompletionStatus.SUCCESS)
        .hasSize(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 7, MOST})
  void findsTheLossOfTheLastPacketsLongBeforeTheTimeout(int lost) {
    Pair pair = Pair.reliable(flow, attributes -> attributes.timeout(20));
    pair.wire.fault =
        (index, packet, delivery) -> {
          if (index < MOST - lost || index >= MOST) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };

    pair.a.post(pair.write(1, 0, MOST * Pair.MTU, 0));
    pair.run(12_000_000);

    assertThat(pair.a.host.sendsDone).hasSize(1);
    assertThat(pair.wire.sentBy(true)).as("packets").hasSizeLessThanOrEqualTo(MOST + lost + 2);
    assertThat(Arrays.copyOf(pair.atB.bytes, MOST * Pair.MTU))
        .isEqualTo(Arrays.copyOf(pair.atA.bytes, MOST * Pair.MTU));
  }

  @Test
  void findsTheLossOfANakLongBeforeTheTimeout() {
    Pair pair = Pair.reliable(flow, attributes -> attributes.timeout(20));
    boolean[] lost = {false};
    pair.wire.fault =
        (index, packet, delivery) -> {
          boolean nak = packet.syndrome() == Aeth.SEQUENCE_ERROR && !lost[0];
          lost[0] |= nak;
          if (index != 3 && !nak) {
            delivery.after(TestWire.FLIGHT_NANOS);
          }
        };

    pair.a.post(pair.write(1, 0, MOST * Pair.MTU, 0));
    pair.run(40_000_000);

    assertThat(lost[0]).isTrue();
    assertThat(pair.a.host.sendsDone).hasSize(1);
  }

  @Test
  void looksForNoLossWhileTheAnswerMayLieAtThePort() {
    Pair pair = Pair.reliable(flow, attributes -> attributes.timeout(20));
    pair.a.behind = true;
    pair.wire.fault = (index, packet, delivery) -> delivery.after(20_000_000);

    pair.a.post(pair.write(1, 0, 8, 0));
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(1);
    assertThat(pair.wire.sentBy(true)).hasSize(1);
  }

  @Test
  void looksForALossAtLastAtAPortThatIsAlwaysBusy() {
    Pair pair = Pair.reliable(flow, attributes -> attributes.timeout(20));
    pair.a.behind = true;
    pair.wire.fault = TestWire.dropping(0);
    long start = pair.time.now();

    pair.a.post(pair.write(1, 0, 8, 0));
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(1);
    assertThat(pair.time.now() - start).isBetween(50_000_000L, 4096L << 18);
  }

  @Test
  void findsTheLossOfALastPacketLongBeforeTheTimeout() {
    Pair pair = Pair.reliable(flow, attributes -> attributes.timeout(20));
    pair.wire.fault = TestWire.dropping(0);
    long start = pair.time.now();

    pair.a.post(pair.write(1, 0, 8, 0));
    pair.run();

    assertThat(pair.a.host.sendsDone).hasSize(1);
    assertThat(pair.time.now() - start).isLessThan(4096L << 18);
  }

  /** The second request finds the alarm of the first one set, and does not look at the clock. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1_000_000, 9_000_000, 30_000_000})
  void findsALossLaterByOneProbeWhereNoneIsExpected(long pause) {
    Pair pair = Pair.reliable(lossless(), attributes -> attributes.timeout(20));
    pair.a.post(pair.write(1, 0, 8, 0));
    pair.run(pause + 2 * TestWire.FLIGHT_NANOS);
    pair.wire.fault = TestWire.dropping(pair.wire.sent.size());
    pair.a.post(pair.write(2, 0, 8, 0));

    pair.run(21_000_000);

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.SUCCESS);
  }

  @Test
  void noticesASilentPeerLaterByOneProbeWhereNoLossIsExpected() {
    Pair pair = Pair.reliable(lossless(), attributes -> attributes.timeout(14).retryCount(1));
    pair.a.post(pair.write(1, 0, 8, 0));
    pair.run(2 * TestWire.FLIGHT_NANOS);
    pair.wire.fault = (index, packet, delivery) -> {};
    pair.a.post(pair.write(2, 0, 8, 0));

    pair.run(2 * (4096L << 14) + 11_000_000);

    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS, CompletionStatus.RETRY_EXC_ERR);
  }

  @Test
  void sendsNothingAgainForAnAlarmThatAnEarlierRequestHasSet() {
    Pair pair = Pair.reliable(lossless(), attributes -> attributes.timeout(20));
    pair.wire.fault = (index, packet, delivery) -> delivery.after(3_000_000);

    for (int i = 0; i < 20; i++) {
      pair.a.post(pair.write(i, 0, 8, 0));
      pair.run(6_000_000);
    }

    assertThat(pair.a.host.sendsDone).hasSize(20);
    assertThat(pair.wire.sentBy(true)).hasSize(20);
  }

  private static FlowControl lossless() {
    return new FlowControl(MOST, PART, /* adaptive= */ true, /* lossless= */ true);
  }

  @Test
  void aSilentPeerHoldsUpNoOtherQueuePairAlsoWithoutATimeout() {
    PeerWindow shared = new PeerWindow(4);
    Pair silent = Pair.reliable(flow, attributes -> attributes.timeout(0));
    silent.wire.fault = (index, packet, delivery) -> {};
    Pair other = Pair.reliable(flow, attributes -> {});
    for (End end : List.of(silent.a, other.a)) {
      end.window = shared;
      end.modify(QueuePairState.RTS);
    }
    silent.a.post(silent.write(1, 0, 4 * Pair.MTU, 0));
    other.a.post(other.write(2, 0, 8, 0));
    assertThat(other.wire.sent).as("there is no room").isEmpty();

    silent.run(1_000_000_000);

    assertThat(other.wire.sent).isNotEmpty();
    silent.wire.fault = TestWire.NONE;
    silent.run();
    assertThat(silent.a.host.sendsDone)
        .extracting(Done::status)
        .containsExactly(CompletionStatus.SUCCESS);
  }
}
