// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.crypto;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A packet number is accepted once, and never when it is older than the window. */
class ReplayWindowTest {
  private final ReplayWindow window = new ReplayWindow();

  @Test
  void aNumberIsNewOnce() {
    assertThat(window.isNew(0)).isTrue();
    window.add(0);

    assertThat(window.isNew(0)).isFalse();
    assertThat(window.isNew(1)).isTrue();
  }

  @Test
  void whatIsOlderThanTheWindowIsNotNew() {
    window.add(10_000);

    assertThat(window.isNew(10_000 - ReplayWindow.SIZE)).isFalse();
    assertThat(window.isNew(10_001 - ReplayWindow.SIZE)).isTrue();
    assertThat(window.isNew(-1)).isFalse();
  }

  @Test
  void aLeapForgetsWhatStoodInTheSamePlaces() {
    for (int i = 0; i < ReplayWindow.SIZE; i++) {
      window.add(i);
    }
    window.add(100L * ReplayWindow.SIZE);

    for (int i = 1; i < ReplayWindow.SIZE; i++) {
      assertThat(window.isNew(100L * ReplayWindow.SIZE - i)).as("%d before", i).isTrue();
    }
  }

  @Test
  void agreesWithASetWhateverTheOrder() {
    Random random = new Random(1);
    Set<Long> come = new HashSet<>();
    long highest = -1;
    for (int i = 0; i < 200_000; i++) {
      int leap = random.nextInt(1000) == 0 ? 3 * ReplayWindow.SIZE : 40;
      long number = Math.max(0, highest + leap - random.nextInt(leap + 2 * ReplayWindow.SIZE));
      boolean expected = number > highest - ReplayWindow.SIZE && !come.contains(number);

      assertThat(window.isNew(number)).as("%d, highest %d", number, highest).isEqualTo(expected);

      if (expected) {
        window.add(number);
        come.add(number);
        highest = Math.max(highest, number);
      }
    }
  }
}
