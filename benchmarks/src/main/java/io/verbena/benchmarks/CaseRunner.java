package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Plan;
import java.io.IOException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Runs a case until the CPUs stayed where they were meanwhile, or patience ends. */
final class CaseRunner {
  private final Plan plan;
  private final int repeats;
  private final @Nullable Duration repeatsEnd;
  private final Progress progress;
  private final long began = System.nanoTime();

  /**
   * A runner.
   *
   * @param repeats how often a disturbed case is run again
   * @param repeatsEnd after which time from now nothing is run again, or null
   */
  CaseRunner(Plan plan, int repeats, @Nullable Duration repeatsEnd, Progress progress) {
    this.plan = plan;
    this.repeats = repeats;
    this.repeatsEnd = repeatsEnd;
    this.progress = progress;
  }

  /** The undisturbed outcome, or the least disturbed one; a failure at once. */
  Outcome run(BenchCase<?> benchCase) throws IOException, InterruptedException {
    long start = System.nanoTime();
    progress.started(benchCase);
    Outcome kept = CaseProcess.run(benchCase, plan);
    for (int i = 0; i < repeats && disturbed(kept) && hasTime(); i++) {
      Outcome again = CaseProcess.run(benchCase, plan);
      if (disturbance(again) < disturbance(kept) || again.failed()) {
        kept = again;
      }
    }
    progress.ended(kept, System.nanoTime() - start);
    return kept;
  }

  private boolean disturbed(Outcome outcome) {
    Figures figures = outcome.figures();
    if (figures == null || !figures.disturbed()) {
      return false;
    }
    progress.again(figures);
    return true;
  }

  private static double disturbance(Outcome outcome) {
    Figures figures = outcome.figures();
    return figures == null ? Double.MAX_VALUE : figures.disturbance();
  }

  private boolean hasTime() {
    return repeatsEnd == null || System.nanoTime() - began < repeatsEnd.toNanos();
  }
}
