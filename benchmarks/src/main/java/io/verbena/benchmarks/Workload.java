// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Measurement;
import io.verbena.benchmarks.work.Participant;
import io.verbena.benchmarks.work.Plan;
import java.time.Duration;

/**
 * A kind of work that participants are compared in.
 *
 * @param id its name on the command line
 * @param title its heading in the table
 * @param unit the unit of its figures
 * @param scale what a measured value is multiplied with to be in that unit
 * @param higherIsBetter whether it is a rate, otherwise it is a time
 * @param leastWarmUp the warm-up that it needs for figures that mean something; a quick run leaves
 *     out what needs a longer one than its own
 * @param measure how a participant is measured
 */
record Workload<P extends Participant>(
    String id,
    String title,
    String unit,
    double scale,
    boolean higherIsBetter,
    Duration leastWarmUp,
    Measure<P> measure) {

  /** A workload for which any warm-up will do. */
  Workload(
      String id,
      String title,
      String unit,
      double scale,
      boolean higherIsBetter,
      Measure<P> measure) {
    this(id, title, unit, scale, higherIsBetter, Duration.ZERO, measure);
  }

  /** The plan with as much warm-up as this needs. */
  Plan plan(Plan plan) {
    return plan.warmUp().compareTo(leastWarmUp) >= 0
        ? plan
        : new Plan(leastWarmUp, plan.repetitions(), plan.repetition());
  }

  /** Warm-up and repetitions on an open participant. */
  interface Measure<P> {
    Measurement take(P participant, Plan plan) throws Exception;
  }
}
