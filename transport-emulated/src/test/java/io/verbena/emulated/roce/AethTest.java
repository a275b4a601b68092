// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AethTest {
  @Test
  void everySyndromeIsAtMostOneThing() {
    for (int syndrome = 0; syndrome < 256; syndrome++) {
      assertThat(Aeth.isAck(syndrome)).isEqualTo(syndrome < 0x20);
      assertThat(Aeth.isRnrNak(syndrome)).isEqualTo(syndrome >= 0x20 && syndrome < 0x40);
      assertThat(Aeth.isNak(syndrome)).isEqualTo(syndrome >= 0x60 && syndrome <= 0x63);
    }
  }

  @Test
  void carriesCreditsAndTimers() {
    assertThat(Aeth.ack(Aeth.UNLIMITED_CREDITS)).isEqualTo(0x1f);
    assertThat(Aeth.rnrNak(12)).isEqualTo(0x2c);
    for (int value = 0; value <= Aeth.MAX_VALUE; value++) {
      assertThat(Aeth.value(Aeth.ack(value))).isEqualTo(value);
      assertThat(Aeth.value(Aeth.rnrNak(value))).isEqualTo(value);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {-1, 32, Integer.MAX_VALUE})
  void refusesWhatFiveBitsCannotSay(int value) {
    assertThatThrownBy(() -> Aeth.ack(value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("credits: " + value + " (expected: 0 to 31)");
    assertThatThrownBy(() -> Aeth.rnrNak(value))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("timer: " + value + " (expected: 0 to 31)");
  }
}
