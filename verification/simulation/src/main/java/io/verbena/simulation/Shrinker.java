// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.Scenario;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/**
 * Reduces a failing scenario. First replaces the random fault schedule by the list of faults that
 * were injected into single packets, then removes faults and steps for as long as the scenario
 * still fails (delta debugging, Zeller and Hildebrandt 2002).
 */
final class Shrinker {
  private final int maxRuns;
  private int runs;

  /**
   * Creates a shrinker that stops after this many runs and returns the smallest failing scenario
   * found so far.
   */
  Shrinker(int maxRuns) {
    this.maxRuns = maxRuns;
  }

  /** The number of runs made so far. */
  int runs() {
    return runs;
  }

  Scenario shrink(Scenario failing) {
    Scenario scenario = withConcreteFaults(failing);
    int before;
    do {
      before = size(scenario);
      Scenario now = scenario;
      List<Fault> faults =
          minimize(now.faults().faults(), fewer -> fails(now.withFaults(schedule(now, fewer))));
      Scenario next = now.withFaults(schedule(now, faults));
      List<Integer> all = IntStream.range(0, next.stepCount()).boxed().toList();
      scenario = next.withSteps(minimize(all, fewer -> fails(next.withSteps(fewer))));
    } while (size(scenario) < before && runs < maxRuns);
    return scenario;
  }

  private static int size(Scenario scenario) {
    return scenario.stepCount() + scenario.faults().faults().size();
  }

  private static FaultSchedule schedule(Scenario scenario, List<Fault> faults) {
    return new FaultSchedule(scenario.faults().latency(), faults);
  }

  /**
   * Returns the same scenario with one fault for each packet that was affected, if that fails too;
   * otherwise the scenario itself.
   */
  private Scenario withConcreteFaults(Scenario scenario) {
    List<Fault> injectedFaults = new ArrayList<>();
    runs++;
    scenario.run(new Arena(), null, injectedFaults);
    Scenario withConcreteFaults = scenario.withFaults(schedule(scenario, injectedFaults));
    return fails(withConcreteFaults) ? withConcreteFaults : scenario;
  }

  private boolean fails(Scenario scenario) {
    runs++;
    return !scenario.run(new Arena(), null, null).isSuccess();
  }

  /** Removes ever smaller parts of a list for as long as the rest still fails. */
  private <T> List<T> minimize(List<T> all, Predicate<List<T>> fails) {
    List<T> list = all;
    int part = Math.max(1, list.size());
    while (part > 0 && !list.isEmpty() && runs < maxRuns) {
      boolean removed = false;
      for (int from = 0; from < list.size() && runs < maxRuns; ) {
        List<T> rest = new ArrayList<>(list.subList(0, from));
        rest.addAll(list.subList(Math.min(list.size(), from + part), list.size()));
        if (fails.test(rest)) {
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
    return list;
  }
}
