// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import io.verbena.simulation.reactive.ReactiveScenario;
import io.verbena.simulation.scenario.Scenario;
import io.verbena.simulation.verbs.StreamScenarios;
import io.verbena.simulation.verbs.VerbsScenario;

/** The kinds of scenarios that a seed can generate. */
enum Program {
  /** Work requests posted to the verbs SPI. */
  VERBS {
    @Override
    Scenario generate(long seed) {
      return VerbsScenario.generate(seed);
    }
  },
  /** Work requests posted to the verbs SPI, over the streams of iWARP. */
  IWARP {
    @Override
    Scenario generate(long seed) {
      return StreamScenarios.generate(seed);
    }
  },
  /** The two ends of one connection of the reactive layer. */
  REACTIVE {
    @Override
    Scenario generate(long seed) {
      return ReactiveScenario.generate(seed);
    }
  };

  /** Generates the scenario of a seed. */
  abstract Scenario generate(long seed);
}
