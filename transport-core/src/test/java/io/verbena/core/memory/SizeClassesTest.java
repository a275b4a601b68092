// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SizeClassesTest {

  @Test
  void everyLengthFitsItsClassAndNoShorterOne() {
    for (int length = 0; length <= SizeClasses.LARGEST; length++) {
      int sizeClass = SizeClasses.of(length);
      if (SizeClasses.length(sizeClass) < length
          || (sizeClass > 0 && SizeClasses.length(sizeClass - 1) >= length)) {
        assertThat(sizeClass).as("class of " + length).isNegative();
      }
    }
  }

  @Test
  void classesArePowersOfTwoAndTheirHalves() {
    assertThat(SizeClasses.length(0)).isEqualTo(256);
    assertThat(SizeClasses.length(1)).isEqualTo(384);
    assertThat(SizeClasses.length(2)).isEqualTo(512);
    assertThat(SizeClasses.length(SizeClasses.COUNT - 1)).isEqualTo(SizeClasses.LARGEST);
  }

  @Test
  void longBuffersAreRoundedUpByAnEighthAtTheMost() {
    assertThat(LargeBuffers.roundUp((1 << 20) + 1)).isEqualTo((1 << 20) + (1 << 17));
    assertThat(LargeBuffers.roundUp(1 << 21)).isEqualTo(1 << 21);
    assertThat(LargeBuffers.roundUp(Integer.MAX_VALUE - 64)).isEqualTo(Integer.MAX_VALUE);
  }
}
