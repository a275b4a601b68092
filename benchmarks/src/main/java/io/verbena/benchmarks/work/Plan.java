// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.time.Duration;

/**
 * Lengths of warm-up and repetitions.
 *
 * @param warmUp time before the first repetition
 * @param repetitions number of repetitions, at least three
 * @param repetition time of one repetition
 */
public record Plan(Duration warmUp, int repetitions, Duration repetition) {
  private static final Duration GRACE = Duration.ofSeconds(20);

  public Plan {
    if (repetitions < 3) {
      throw new IllegalArgumentException("repetitions: " + repetitions + " (expected: >= 3)");
    }
  }

  /** Returns the deadline of one batch of work, or of opening a participant, that begins now. */
  public Deadline deadline() {
    return Deadline.in(repetition.multipliedBy(4).plus(GRACE));
  }

  /** Returns the time limit of a whole case, including the start of its JVM. */
  public Duration caseLimit() {
    return repetition.multipliedBy(repetitions).plus(warmUp).multipliedBy(2).plus(GRACE);
  }
}
