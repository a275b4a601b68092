package io.verbena.reactor.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.reactor.wire.ProtocolException;
import org.junit.jupiter.api.Test;

class CreditsTest {

  @Test
  void whatOneEndFreesTheOtherMayUse() {
    Grant grant = new Grant(4, 2);
    Allowance allowance = new Allowance("messages", 4);
    for (int round = 0; round < 100; round++) {
      while (allowance.left() > 0) {
        allowance.use();
        assertThat(grant.arrive()).isTrue();
      }
      assertThat(grant.held(4)).isEqualTo(4);
      assertThat(grant.due()).isFalse();
      grant.free();
      assertThat(grant.due()).as("a peer without credits is told at once").isTrue();
      grant.free();
      assertThat(grant.reached()).isTrue();
      allowance.raise(grant.announce());
      assertThat(allowance.left()).isEqualTo(2);
      grant.free();
      grant.free();
      allowance.raise(grant.announce());
    }
  }

  @Test
  void countsAcrossTheEndOfTheNumbers() {
    int most = 1 << 20;
    Grant grant = new Grant(most, 1);
    Allowance allowance = new Allowance("frames", most);
    for (long moved = 0; moved < 5L << 30; moved += most) {
      for (int i = 0; i < most; i++) {
        allowance.use();
        grant.arrive();
        grant.free();
      }
      assertThat(allowance.left()).isZero();
      allowance.raise(grant.announce());
      assertThat(allowance.left()).isEqualTo(most);
    }
  }

  @Test
  void noticesAPeerThatOverdraws() {
    Grant grant = new Grant(2, 1);

    assertThat(grant.arrive()).isTrue();
    assertThat(grant.arrive()).isTrue();
    grant.free();
    assertThat(grant.arrive()).as("freed, but not announced").isFalse();
  }

  @Test
  void refusesGrantsThatShrinkOrBurst() {
    Allowance allowance = new Allowance("frames", 8);
    allowance.use();

    assertThatThrownBy(() -> allowance.raise(7))
        .isInstanceOf(ProtocolException.class)
        .hasMessageContaining("grant of frames: -1 (expected: 0..1 more than before)");
    assertThatThrownBy(() -> allowance.raise(10)).isInstanceOf(ProtocolException.class);
    allowance.raise(9);
    assertThat(allowance.left()).isEqualTo(8);
  }
}
