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
 * Makes a run that fails smaller: first what chance did on the wire becomes a list of faults of
 * single packets, then faults and steps are taken out as long as some promise is still broken
 * (delta debugging, Zeller and Hildebrandt 2002).
 */
final class Shrinker {
  private final int mostRuns;
  private int runs;

  /** One that gives up after a number of runs and answers the smallest script so far. */
  Shrinker(int mostRuns) {
    this.mostRuns = mostRuns;
  }

  /** How many runs it took. */
  int runs() {
    return runs;
  }

  Scenario shrink(Scenario failing) {
    Scenario script = concrete(failing);
    int before;
    do {
      before = size(script);
      Scenario now = script;
      List<Fault> faults =
          minimize(now.faults().faults(), fewer -> fails(now.withFaults(schedule(now, fewer))));
      Scenario next = now.withFaults(schedule(now, faults));
      List<Integer> all = IntStream.range(0, next.steps()).boxed().toList();
      script = next.withSteps(minimize(all, fewer -> fails(next.withSteps(fewer))));
    } while (size(script) < before && runs < mostRuns);
    return script;
  }

  private static int size(Scenario script) {
    return script.steps() + script.faults().faults().size();
  }

  private static FaultSchedule schedule(Scenario script, List<Fault> faults) {
    return new FaultSchedule(script.faults().latency(), faults);
  }

  /** The same run with a fault for each packet that was struck, if that fails too. */
  private Scenario concrete(Scenario script) {
    List<Fault> strikes = new ArrayList<>();
    runs++;
    script.run(new Arena(), null, strikes);
    Scenario concrete = script.withFaults(schedule(script, strikes));
    return fails(concrete) ? concrete : script;
  }

  private boolean fails(Scenario script) {
    runs++;
    return !script.run(new Arena(), null, null).isGood();
  }

  /** Takes out ever smaller parts of a list while the rest still fails. */
  private <T> List<T> minimize(List<T> all, Predicate<List<T>> fails) {
    List<T> list = all;
    int part = Math.max(1, list.size());
    while (part > 0 && !list.isEmpty() && runs < mostRuns) {
      boolean taken = false;
      for (int from = 0; from < list.size() && runs < mostRuns; ) {
        List<T> rest = new ArrayList<>(list.subList(0, from));
        rest.addAll(list.subList(Math.min(list.size(), from + part), list.size()));
        if (fails.test(rest)) {
          list = rest;
          taken = true;
        } else {
          from += part;
        }
      }
      if (!taken || part > 1) {
        part /= 2;
      }
    }
    return list;
  }
}
