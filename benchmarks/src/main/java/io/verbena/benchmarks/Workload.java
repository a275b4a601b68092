// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Measurement;
import io.verbena.benchmarks.work.Participant;
import io.verbena.benchmarks.work.Plan;
import java.time.Duration;

/**
 * A kind of work for which participants are compared.
 *
 * @param id its name on the command line
 * @param title its heading in the table
 * @param unit the unit of its figures
 * @param scale the factor that converts a measured value to that unit
 * @param higherIsBetter true for a rate, false for a time
 * @param leastWarmUp the minimum warm-up for reliable figures; a quick run skips workloads whose
 *     minimum exceeds its own warm-up
 * @param measure measures a participant
 */
record Workload<P extends Participant>(
    String id,
    String title,
    String unit,
    double scale,
    boolean higherIsBetter,
    Duration leastWarmUp,
    Measure<P> measure) {

  /** Creates a workload without a minimum warm-up. */
  Workload(
      String id,
      String title,
      String unit,
      double scale,
      boolean higherIsBetter,
      Measure<P> measure) {
    this(id, title, unit, scale, higherIsBetter, Duration.ZERO, measure);
  }

  /** Returns the plan with at least the warm-up that this workload needs. */
  Plan plan(Plan plan) {
    return plan.warmUp().compareTo(leastWarmUp) >= 0
        ? plan
        : new Plan(leastWarmUp, plan.repetitions(), plan.repetition());
  }

  /** Performs warm-up and repetitions on an open participant. */
  interface Measure<P> {
    Measurement take(P participant, Plan plan) throws Exception;
  }
}
