package io.verbena.benchmarks.work;

import java.time.Duration;

/**
 * How long to measure.
 *
 * @param warmUp time before the first repetition
 * @param repetitions number of repetitions, at least three
 * @param repetition time of one
 */
public record Plan(Duration warmUp, int repetitions, Duration repetition) {
  private static final Duration GRACE = Duration.ofSeconds(20);

  public Plan {
    if (repetitions < 3) {
      throw new IllegalArgumentException("repetitions: " + repetitions + " (expected: >= 3)");
    }
  }

  /** When one batch of work, or the opening of a participant, has failed. */
  public Deadline deadline() {
    return Deadline.in(repetition.multipliedBy(4).plus(GRACE));
  }

  /** When a whole case, with the start of its JVM, has failed. */
  public Duration caseLimit() {
    return repetition.multipliedBy(repetitions).plus(warmUp).multipliedBy(2).plus(GRACE);
  }
}
