// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.time.Duration;

/**
 * Lengths of warm-up and repetitions.
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

  /** The deadline of one batch of work, or of the opening of a participant. */
  public Deadline deadline() {
    return Deadline.in(repetition.multipliedBy(4).plus(GRACE));
  }

  /** The time limit of a whole case, with the start of its JVM. */
  public Duration caseLimit() {
    return repetition.multipliedBy(repetitions).plus(warmUp).multipliedBy(2).plus(GRACE);
  }
}
