// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.RunResult;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SeedRunnerTest {
  private static final long LOWER = 7;
  private static final long HIGHER = 8;
  private static final int WORKERS = 2;
  private static final long LIMIT_MILLIS = 60_000;

  @ParameterizedTest
  @ValueSource(longs = {LOWER, HIGHER})
  void tellsTheFailureOfTheLowestSeedWhicheverFailsFirst(long first) throws InterruptedException {
    TwoSeeds seeds = new TwoSeeds(first, LOWER, HIGHER);

    assertThat(seeds.runner.run(2, done -> {})).isEqualTo(LOWER);

    assertThat(seeds.runner.failure()).hasMessage("seed " + LOWER);
  }

  @ParameterizedTest
  @ValueSource(longs = {LOWER, HIGHER})
  void tellsTheFailureOfOneSeedAfterAnotherHasSucceeded(long failing) throws InterruptedException {
    TwoSeeds seeds = new TwoSeeds(failing, failing);

    assertThat(seeds.runner.run(2, done -> {})).isEqualTo(failing);

    assertThat(seeds.runner.failure()).hasMessage("seed " + failing);
  }

  @Test
  void tellsWhatASeedHasThrown() throws InterruptedException {
    SeedRunner runner =
        new SeedRunner(
            (seed, arena) -> {
              throw new IllegalStateException("thrown");
            },
            LOWER,
            1);

    assertThat(runner.run(1, done -> {})).isEqualTo(LOWER);

    assertThat(runner.failure()).hasMessage("thrown");
  }

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
    // The group may also contain threads of the JDK that the workers were the first to start.
    Thread[] all = new Thread[10 * WORKERS];
    List<Thread> workers =
        Arrays.stream(all, 0, group.enumerate(all))
            .filter(each -> each.getName().startsWith("simulation-"))
            .toList();
    assertThat(workers).hasSize(WORKERS);

    runner.interrupt();

    runner.join(LIMIT_MILLIS);
    assertThat(runner.isAlive()).isFalse();
    for (Thread each : workers) {
      each.join(LIMIT_MILLIS);
      assertThat(each.isAlive()).as("%s", each).isFalse();
    }
  }

  @Test
  void namesTheSeedsThatRunWhenItIsInterrupted() {
    var ended = new CountDownLatch(1);
    var runner =
        new SeedRunner(
            (seed, arena) -> {
              await().until(() -> ended.getCount() == 0);
              return new RunResult(null, 0, 0);
            },
            LOWER,
            1);
    Thread test = Thread.currentThread();

    assertThatThrownBy(
            () ->
                runner.run(
                    1,
                    done -> {
                      if (!runner.running().isEmpty()) {
                        test.interrupt();
                      }
                    }))
        .isInstanceOf(InterruptedException.class)
        .hasMessage("interrupted while seeds ran: [7]");
    ended.countDown();
  }

  /** Runs two seeds at the same time; one of them ends after the other has failed. */
  private static final class TwoSeeds implements SeedRunner.SeedRun {
    final SeedRunner runner = new SeedRunner(this, LOWER, 2);
    private final CountDownLatch begun = new CountDownLatch(2);
    private final long first;
    private final long[] failing;

    TwoSeeds(long first, long... failing) {
      this.first = first;
      this.failing = failing;
    }

    @Override
    public RunResult run(long seed, Arena arena) {
      begun.countDown();
      await().until(() -> begun.getCount() == 0);
      if (seed != first) {
        await().until(() -> runner.failure() != null);
      }
      return new RunResult(failure(seed), 0, 0);
    }

    private @Nullable Throwable failure(long seed) {
      for (long each : failing) {
        if (each == seed) {
          return new AssertionError("seed " + seed);
        }
      }
      return null;
    }
  }
}
