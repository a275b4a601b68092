// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Plan;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Runs a case, and runs it again while it was disturbed and time is left. */
final class CaseRunner {
  private final Plan plan;
  private final int repeats;
  private final @Nullable Duration limit;
  private final Progress progress;
  private final long began = System.nanoTime();
  private int left;
  private int processes;

  /**
   * Creates a runner.
   *
   * @param cases the number of cases that it will run
   * @param repeats the maximum number of repetitions of a disturbed case
   * @param limit the total time after which no case is repeated, or null
   */
  CaseRunner(Plan plan, int cases, int repeats, @Nullable Duration limit, Progress progress) {
    this.plan = plan;
    this.left = cases;
    this.repeats = repeats;
    this.limit = limit;
    this.progress = progress;
  }

  /** Runs a case. Returns the undisturbed or least disturbed result, or the first failure. */
  CaseResult run(BenchCase<?> benchCase) throws IOException, InterruptedException {
    long start = System.nanoTime();
    left--;
    progress.started(benchCase);
    CaseResult kept = once(benchCase);
    for (int i = 0; i < repeats && kept.disturbed() && hasTime(); i++) {
      progress.again(kept);
      CaseResult again = once(benchCase);
      if (again.disturbance() < kept.disturbance() || again.failed()) {
        kept = again;
      }
    }
    progress.ended(kept, System.nanoTime() - start);
    return kept;
  }

  private CaseResult once(BenchCase<?> benchCase) throws IOException, InterruptedException {
    processes++;
    return CaseProcess.run(benchCase, benchCase.workload().plan(plan));
  }

  /** Returns whether there is time for one more run besides those of the remaining cases. */
  private boolean hasTime() {
    if (limit == null) {
      return true;
    }
    long elapsed = System.nanoTime() - began;
    return elapsed + elapsed / processes * (left + 1) < limit.toNanos();
  }
}
