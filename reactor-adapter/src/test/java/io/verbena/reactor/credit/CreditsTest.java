// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.reactor.wire.ProtocolException;
import org.junit.jupiter.api.Test;

class CreditsTest {

  @Test
  void whatOneEndFreesTheOtherMayUse() {
    ReceiveCredits given = new ReceiveCredits(4, 2);
    SendCredits got = new SendCredits("messages", 4, 4);
    for (int round = 0; round < 100; round++) {
      while (got.left() > 0) {
        got.use();
        assertThat(given.arrive()).isTrue();
      }
      assertThat(given.held(4)).isEqualTo(4);
      assertThat(given.due()).isFalse();
      given.free();
      assertThat(given.due()).as("a peer without credits is told at once").isTrue();
      given.free();
      assertThat(given.reached()).isTrue();
      got.raise(given.announce());
      assertThat(got.left()).isEqualTo(2);
      given.free();
      given.free();
      got.raise(given.announce());
    }
  }

  @Test
  void countsAcrossTheEndOfTheNumbers() {
    int most = 1 << 20;
    ReceiveCredits given = new ReceiveCredits(most, 1);
    SendCredits got = new SendCredits("frames", most, most);
    for (long moved = 0; moved < 5L << 30; moved += most) {
      if (isNearAnEnd(moved, most)) {
        for (int i = 0; i < most; i++) {
          got.use();
          given.arrive();
          given.free();
        }
      } else {
        got.giveBack(most);
        given.arrive(most);
        given.add(most);
      }
      assertThat(got.left()).isZero();
      got.raise(given.announce());
      assertThat(got.left()).isEqualTo(most);
    }
  }

  /**
   * Returns whether a count of {@code moved} is close to a multiple of 2^31, where counters wrap.
   */
  private static boolean isNearAnEnd(long moved, int step) {
    return Math.floorMod(moved + 2L * step, 1L << 31) < 4L * step;
  }

  @Test
  void noticesAPeerThatOverdraws() {
    ReceiveCredits given = new ReceiveCredits(2, 1);

    assertThat(given.arrive()).isTrue();
    assertThat(given.arrive()).isTrue();
    given.free();
    assertThat(given.arrive()).as("freed, but not announced").isFalse();
  }

  @Test
  void refusesGrantsThatShrinkOrBurst() {
    SendCredits got = new SendCredits("frames", 8, 8);
    got.use();

    assertThatThrownBy(() -> got.raise(7))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("grant of frames: -1 (expected: 0..1 more than before)");
    assertThatThrownBy(() -> got.raise(10)).isInstanceOf(ProtocolException.class);
    got.raise(9);
    assertThat(got.left()).isEqualTo(8);
  }
}
