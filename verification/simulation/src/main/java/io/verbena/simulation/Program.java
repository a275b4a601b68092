package io.verbena.simulation;

import io.verbena.simulation.reactive.ReactiveScenario;
import io.verbena.simulation.scenario.Scenario;
import io.verbena.simulation.verbs.VerbsScenario;

/** What a seed is made into. */
enum Program {
  /** A program over the verbs. */
  VERBS {
    @Override
    Scenario of(long seed) {
      return VerbsScenario.of(seed);
    }
  },
  /** Two ends of a connection of the reactive layer. */
  REACTIVE {
    @Override
    Scenario of(long seed) {
      return ReactiveScenario.of(seed);
    }
  };

  /** The run of a seed. */
  abstract Scenario of(long seed);
}
