// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.reactor.wire.ProtocolException;
import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("once")
class ReceiveFrameCreditsTest {
  private final ReceiveFrameCredits credits = new ReceiveFrameCredits(8, 64);

  private void useAndFree(int count) {
    for (int i = 0; i < count; i++) {
      assertThat(credits.arrive()).isTrue();
      credits.free();
    }
  }

  @Test
  void doubleWhereSoManyAreUsedThatThePeerIsToBeTold() {
    useAndFree(1);
    assertThat(credits.wanted()).isZero();
    useAndFree(1);
    assertThat(credits.wanted()).isEqualTo(8);

    credits.grow(8);

    assertThat(credits.share()).isEqualTo(16);
    assertThat(credits.wanted()).as("not before they were announced").isZero();
    assertThat(credits.announce()).isEqualTo(8 + 2 + 8);
    useAndFree(4);
    assertThat(credits.wanted()).isEqualTo(16);
  }

  @Test
  void growNoFurtherThanWasTold() {
    for (int i = 0; i < 5; i++) {
      useAndFree(credits.share() / 2);
      credits.grow(credits.wanted());
      credits.announce();
    }
    assertThat(credits.share()).isEqualTo(64);
    useAndFree(64);
    assertThat(credits.wanted()).isZero();
  }

  @Test
  void areNotGrantedAnewWhereOthersNeedThem() {
    useAndFree(2);
    credits.grow(8);
    credits.announce();

    while (credits.mayShrink()) {
      credits.arrive();
      credits.withhold();
    }

    assertThat(credits.share()).isEqualTo(8);
    assertThat(credits.announce()).isEqualTo(18);
  }

  @Test
  void refuseToTakeBackWhatThePeerMustKeepOrHasNot() {
    assertThatThrownBy(() -> credits.giveBack(1))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("credits given back: 1 (expected: 1..0)");
    useAndFree(2);
    credits.grow(8);
    credits.announce();
    assertThatThrownBy(() -> credits.giveBack(-1)).isInstanceOf(ProtocolException.class);
    assertThatThrownBy(() -> credits.giveBack(9)).isInstanceOf(ProtocolException.class);

    credits.giveBack(8);

    assertThat(credits.share()).isEqualTo(8);
    for (int i = 0; i < 8; i++) {
      assertThat(credits.arrive()).isTrue();
    }
    assertThat(credits.arrive()).as("it was given back").isFalse();
  }

  /**
   * One end of a connection, which counts as {@code MessageSender} and {@code MessageReceiver} do.
   */
  private static final class End {
    final ReceiveFrameCredits given;
    final SendCredits got;
    final int first;
    final ArrayDeque<int[]> arriving = new ArrayDeque<>();
    boolean wantsToSend;

    End(int first, int most) {
      this.first = first;
      given = new ReceiveFrameCredits(first, most);
      got = new SendCredits("frames", first, most);
    }

    boolean maySend() {
      return (wantsToSend && got.left() > 2) || (given.reached() && got.left() > 0);
    }

    void send(End to, boolean gives) {
      int count = gives ? Math.max(0, got.left() - 1 - first) : 0;
      got.giveBack(count);
      to.arriving.add(new int[] {given.announce(), count});
      got.use();
    }

    void take(Random random) {
      int[] frame = arriving.remove();
      assertThat(given.arrive()).as("a credit for each frame").isTrue();
      got.raise(frame[0]);
      if (frame[1] > 0) {
        given.giveBack(frame[1]);
      }
      if (given.mayShrink() && random.nextInt(10) == 0) {
        given.withhold();
      } else {
        given.free();
      }
      int wanted = given.wanted();
      if (wanted > 0) {
        given.grow(random.nextInt(wanted + 1));
      }
    }
  }

  @Test
  void neverRunOutForGoodWhateverTheirNumber() {
    for (int seed = 0; seed < 300; seed++) {
      Random random = new Random(seed);
      int first = 4 + random.nextInt(8);
      int most = first + random.nextInt(60);
      End[] ends = {new End(first, most), new End(first, most)};
      for (int step = 0; step < 2000; step++) {
        int at = random.nextInt(2);
        End end = ends[at];
        end.wantsToSend = random.nextInt(4) > 0;
        if (random.nextBoolean() && end.maySend()) {
          end.send(ends[1 - at], random.nextInt(30) == 0);
        } else if (!end.arriving.isEmpty()) {
          end.take(random);
        }
        assertThat(end.given.share()).isBetween(first, most);
      }
      settle(ends, random);
      for (End end : ends) {
        end.wantsToSend = true;
        assertThat(end.maySend()).as("seed %d: an end that may send data", seed).isTrue();
        assertThat(end.got.left()).isGreaterThan(2);
      }
    }
  }

  /**
   * Delivers all frames, and sends all frames that only return credits, until both ends are idle.
   */
  private static void settle(End[] ends, Random random) {
    boolean goesOn = true;
    while (goesOn) {
      goesOn = false;
      for (int at = 0; at < 2; at++) {
        ends[at].wantsToSend = false;
        while (!ends[at].arriving.isEmpty()) {
          ends[at].take(random);
          goesOn = true;
        }
        if (ends[at].maySend()) {
          ends[at].send(ends[1 - at], false);
          goesOn = true;
        }
      }
    }
  }
}
