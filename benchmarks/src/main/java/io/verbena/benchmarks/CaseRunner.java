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
   * A runner.
   *
   * @param cases how many cases it will be given
   * @param repeats how often a disturbed case is run again
   * @param limit how long all may take before nothing is run again, or null
   */
  CaseRunner(Plan plan, int cases, int repeats, @Nullable Duration limit, Progress progress) {
    this.plan = plan;
    this.left = cases;
    this.repeats = repeats;
    this.limit = limit;
    this.progress = progress;
  }

  /** The undisturbed outcome, or the least disturbed one; a failure at once. */
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

  /** Returns whether there is time for one more run beside the cases that are still to come. */
  private boolean hasTime() {
    if (limit == null) {
      return true;
    }
    long elapsed = System.nanoTime() - began;
    return elapsed + elapsed / processes * (left + 1) < limit.toNanos();
  }
}
