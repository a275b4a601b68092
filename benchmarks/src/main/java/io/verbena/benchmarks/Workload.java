package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Measurement;
import io.verbena.benchmarks.work.Participant;
import io.verbena.benchmarks.work.Plan;

/**
 * A kind of work that participants are compared in.
 *
 * @param id its name on the command line
 * @param title its heading in the table
 * @param unit the unit of its figures
 * @param scale what a measured value is multiplied with to be in that unit
 * @param higherIsBetter whether it is a rate, otherwise it is a time
 * @param measure how a participant is measured
 */
record Workload<P extends Participant>(
    String id,
    String title,
    String unit,
    double scale,
    boolean higherIsBetter,
    Measure<P> measure) {

  /** Warm-up and repetitions on an open participant. */
  interface Measure<P> {
    Measurement take(P participant, Plan plan) throws Exception;
  }
}
