// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SendCreditsTest {
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
  void receivesAreTakenInTheOrderInWhichTheyWereGiven(long seed) {
    Random random = new Random(seed);
    SendCredits credits = new SendCredits();
    ArrayDeque<Boolean> model = new ArrayDeque<>();
    for (int step = 0; step < 10_000; step++) {
      if (random.nextInt(3) == 0 && model.size() < 200) {
        int count = random.nextInt(4);
        boolean areLong = random.nextBoolean();
        credits.add(count, areLong);
        for (int i = 0; i < count; i++) {
          model.add(areLong);
        }
      } else if (!model.isEmpty()) {
        assertThat(credits.nextIsLong()).isEqualTo(model.remove());
        credits.take();
      }
      assertThat(credits.total()).isEqualTo(model.size());
    }
  }
}
