// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the order of queue pairs that wait for a window, some of which stop waiting. */
class PeerWindowTest {
  private static final int MOST = 4;
  private static final int QUEUE_PAIRS = 20;

  private final PeerWindow window = new PeerWindow(MOST);
  private final WindowShare busy = new WindowShare(new TestHost());
  private final List<WindowShare> waiting = new ArrayList<>();

  @BeforeEach
  void takeAll() {
    busy.of(window);
    busy.sent(MOST);
    for (int i = 0; i < QUEUE_PAIRS; i++) {
      WindowShare share = new WindowShare(new TestHost());
      share.of(window);
      assertThat(share.take(0)).as("room for queue pair " + i).isFalse();
      waiting.add(share);
    }
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whoStillWaitsHasItsTurnInTheOrderOfComing(long seed) {
    Random random = new Random(seed);
    List<WindowShare> left = new ArrayList<>(waiting);
    for (int i = 0; i < QUEUE_PAIRS / 2; i++) {
      left.remove(random.nextInt(left.size())).clear();
    }

    busy.clear();
    for (WindowShare next : left) {
      List<WindowShare> behind =
          left.subList(Math.min(left.size(), left.indexOf(next) + MOST), left.size());
      assertThat(next.take(0)).isTrue();
      assertThat(behind).noneMatch(share -> share.take(0));
      next.clear();
    }
    assertThat(window.hasRoom(MOST)).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, QUEUE_PAIRS - 1})
  void theFirstTheSecondAndTheLastMayStopWaiting(int stops) {
    waiting.remove(stops).clear();

    busy.clear();
    for (WindowShare next : waiting) {
      assertThat(next.take(0)).isTrue();
      next.clear();
    }
    assertThat(window.hasRoom(MOST)).isTrue();
  }
}
