// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Reduces a failing scenario. First replaces the random fault schedule by the list of faults that
 * were injected into single packets, then removes faults and steps as long as the scenario still
 * fails (delta debugging, Zeller and Hildebrandt 2002), and reduces the remaining steps. A scenario
 * that no longer fails is tried with other orders of simultaneous events, because removing a step
 * may change that order.
 */
final class Shrinker {
  private static final int SCHEDULES = 5;

  private final int maxRuns;
  private Arena arena = new Arena();
  private int runs;

  /**
   * Creates a shrinker that stops after this many runs and returns the smallest failing scenario
   * found so far.
   */
  Shrinker(int maxRuns) {
    this.maxRuns = maxRuns;
  }

  /** Returns the number of runs made so far. */
  int runs() {
    return runs;
  }

  /** Returns the smallest failing scenario that was found. */
  Scenario shrink(Scenario failing) {
    Scenario scenario = withConcreteFaults(failing);
    Scenario before;
    do {
      before = scenario;
      scenario = withFewerSteps(scenario);
      scenario = withFewerFaults(scenario);
      scenario = simplified(scenario);
    } while (scenario != before && runs < maxRuns);
    return scenario;
  }

  private static FaultSchedule schedule(Scenario scenario, List<Fault> faults) {
    return new FaultSchedule(scenario.faults().latency(), faults);
  }

  /**
   * Returns the same scenario with one fault for each affected packet if it still fails, otherwise
   * the scenario itself.
   */
  private Scenario withConcreteFaults(Scenario scenario) {
    List<Fault> injectedFaults = new ArrayList<>();
    run(scenario, injectedFaults);
    Scenario withConcreteFaults = failing(scenario.withFaults(schedule(scenario, injectedFaults)));
    return withConcreteFaults == null ? scenario : withConcreteFaults;
  }

  private Scenario withFewerSteps(Scenario scenario) {
    List<Integer> all = IntStream.range(0, scenario.stepCount()).boxed().toList();
    return minimize(scenario, all, scenario::withSteps);
  }

  private Scenario withFewerFaults(Scenario scenario) {
    return minimize(
        scenario,
        scenario.faults().faults(),
        fewer -> scenario.withFaults(schedule(scenario, fewer)));
  }

  private Scenario simplified(Scenario scenario) {
    Scenario best = scenario;
    Scenario before;
    do {
      before = best;
      for (Scenario simpler : before.simpler()) {
        Scenario found = runs < maxRuns ? failing(simpler) : null;
        if (found != null) {
          best = found;
          break;
        }
      }
    } while (best != before);
    return best;
  }

  /** Returns whether the run succeeds. */
  private boolean run(Scenario scenario, @Nullable List<Fault> injectedFaults) {
    runs++;
    boolean success = false;
    try {
      success = scenario.run(arena, null, injectedFaults).isSuccess();
    } finally {
      if (!success) {
        arena = new Arena();
      }
    }
    return success;
  }

  /** Returns the scenario with an order of events in which it fails, or null if none fails. */
  private @Nullable Scenario failing(Scenario scenario) {
    for (int i = 0; i < SCHEDULES; i++) {
      Scenario variant = i == 0 ? scenario : scenario.withSchedule(i);
      if (i > 0 && variant == scenario) {
        return null;
      }
      if (!run(variant, null)) {
        return variant;
      }
    }
    return null;
  }

  /**
   * Removes ever smaller parts of a list as long as the scenario with the rest fails. Returns the
   * last list with which it failed.
   */
  private <T> Scenario minimize(
      Scenario scenario, List<T> all, Function<List<T>, Scenario> withOnly) {
    Scenario best = scenario;
    List<T> list = all;
    int part = Math.max(1, list.size());
    while (part > 0 && !list.isEmpty() && runs < maxRuns) {
      boolean removed = false;
      for (int from = 0; from < list.size() && runs < maxRuns; ) {
        List<T> rest = new ArrayList<>(list.subList(0, from));
        rest.addAll(list.subList(Math.min(list.size(), from + part), list.size()));
        Scenario found = failing(withOnly.apply(rest));
        if (found != null) {
          best = found;
          list = rest;
          removed = true;
        } else {
          from += part;
        }
      }
      if (!removed || part > 1) {
        part /= 2;
      }
    }
    return best;
  }
}
