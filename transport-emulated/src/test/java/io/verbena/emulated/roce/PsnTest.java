// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PsnTest {
  @ParameterizedTest
  @CsvSource({
    "0, 0, 0",
    "1, 0, 1",
    "0, 1, -1",
    "0, 0xffffff, 1",
    "0xffffff, 0, -1",
    "5, 0xfffffb, 10",
    "0x7fffff, 0, 8388607",
    "0x800000, 0, -8388608",
    "0, 0x800000, -8388608",
    "0x800001, 0, -8388607",
  })
  void differsAcrossTheWrap(String psn, String other, int difference) {
    assertThat(Psn.difference(Integer.decode(psn), Integer.decode(other))).isEqualTo(difference);
  }

  @Test
  void goesOnAcrossTheWrap() {
    assertThat(Psn.next(0xfffffe)).isEqualTo(0xffffff);
    assertThat(Psn.next(0xffffff)).isZero();
    assertThat(Psn.plus(0xfffff0, 0x20)).isEqualTo(0x10);
    assertThat(Psn.plus(0x10, -0x20)).isEqualTo(0xfffff0);
  }

  @Test
  void isAsFarAheadAsItWasMoved() {
    Random random = new Random(1);
    for (int i = 0; i < 10_000; i++) {
      int psn = random.nextInt(1 << 24);
      int packets = random.nextInt(1 << 24) - (1 << 23);

      assertThat(Psn.difference(Psn.plus(psn, packets), psn)).isEqualTo(packets);
    }
  }
}
