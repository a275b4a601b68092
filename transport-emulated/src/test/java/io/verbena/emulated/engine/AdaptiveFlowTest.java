// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.engine.TestHost.Done;
import io.verbena.emulated.roce.Frame;
import io.verbena.emulated.roce.PacketOpcode;
import io.verbena.verbs.CompletionStatus;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What an engine has under way on a network that loses packets where buffers are full. */
class AdaptiveFlowTest {
  private static final int MOST = 16;
  private static final int PART = 4;

  private final ManualTimeline time = new ManualTimeline();
  private final FlowControl flow = new FlowControl(MOST, PART, /* adaptive= */ true);
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
    pair.a.receive(new Frame().start(PacketOpcode.CONGESTION_NOTIFICATION));

    pair.a.post(pair.write(1, 0, MOST * Pair.MTU, 0));

    assertThat(pair.wire.sent).hasSize(MOST - MOST / 8);
    pair.run();
    assertThat(pair.a.host.sendsDone)
        .extracting(Done::status)
        .containsOnly(CompletionStatus.SUCCESS);
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
}
