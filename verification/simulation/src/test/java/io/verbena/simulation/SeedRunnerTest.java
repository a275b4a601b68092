// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

class SeedRunnerTest {
  private static final int WORKERS = 2;
  private static final long LIMIT_MILLIS = 60_000;

  @Test
  void endsItsWorkersWhenItIsInterrupted() throws InterruptedException {
    var group = new ThreadGroup("interrupted");
    var running = new CountDownLatch(1);
    var runner =
        new Thread(
            group,
            () -> {
              try {
                new SeedRunner(Program.VERBS, 0, Long.MAX_VALUE)
                    .run(WORKERS, done -> running.countDown());
              } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
              }
            },
            "runner");
    runner.start();
    running.await();
    Thread[] all = new Thread[2 * WORKERS];
    int count = group.enumerate(all);
    assertThat(count).isEqualTo(1 + WORKERS);

    runner.interrupt();

    for (int i = 0; i < count; i++) {
      all[i].join(LIMIT_MILLIS);
      assertThat(all[i].isAlive()).as("%s", all[i]).isFalse();
    }
  }
}
