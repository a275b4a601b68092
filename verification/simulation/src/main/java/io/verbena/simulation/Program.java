package io.verbena.simulation;

import io.verbena.simulation.reactive.ReactiveScript;
import io.verbena.simulation.run.Script;
import io.verbena.simulation.verbs.Plan;

/** What a seed is made into. */
enum Program {
  /** A program over the verbs. */
  VERBS {
    @Override
    Script of(long seed) {
      return Plan.of(seed);
    }
  },
  /** Two ends of a connection of the reactive layer. */
  REACTIVE {
    @Override
    Script of(long seed) {
      return ReactiveScript.of(seed);
    }
  };

  /** The run of a seed. */
  abstract Script of(long seed);
}
