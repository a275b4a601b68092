// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Measurement;
import io.verbena.benchmarks.work.Participant;
import io.verbena.benchmarks.work.Plan;

/**
 * One participant in one workload, measured by a JVM of its own.
 *
 * @param workload the work
 * @param role the role of the participant in the table
 * @param participant its name
 * @param opening opens the participant, ready to work
 */
record BenchCase<P extends Participant>(
    Workload<P> workload, Role role, String participant, Opening<P> opening) {

  /** Opens a participant. */
  interface Opening<P> {
    P open() throws Exception;
  }

  /** Its name on the command line. */
  String id() {
    return workload.id() + "/" + participant;
  }

  /** Opens the participant, measures, and closes it. */
  Measurement run(Plan plan) throws Exception {
    try (P open = opening.open()) {
      return workload.measure().take(open, plan);
    }
  }
}
