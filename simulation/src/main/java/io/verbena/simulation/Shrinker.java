package io.verbena.simulation;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Makes a plan that fails smaller: first what chance did on the wire becomes a list of faults of
 * single packets, then faults and operations are taken out as long as some promise is still broken
 * (delta debugging, Zeller and Hildebrandt 2002).
 */
final class Shrinker {
  private final int mostRuns;
  private int runs;

  /** One that gives up after a number of runs and answers the smallest plan so far. */
  Shrinker(int mostRuns) {
    this.mostRuns = mostRuns;
  }

  /** How many runs it took. */
  int runs() {
    return runs;
  }

  Plan shrink(Plan failing) {
    Plan plan = concrete(failing);
    int before;
    do {
      before = size(plan);
      Plan now = plan;
      List<Fault> faults =
          minimize(now.faults().faults(), fewer -> fails(now.withFaults(schedule(now, fewer))));
      Plan next = now.withFaults(schedule(now, faults));
      plan =
          next.withOperations(
              minimize(next.operations(), fewer -> fails(next.withOperations(fewer))));
    } while (size(plan) < before && runs < mostRuns);
    return plan;
  }

  private static int size(Plan plan) {
    return plan.operations().size() + plan.faults().faults().size();
  }

  private static FaultSchedule schedule(Plan plan, List<Fault> faults) {
    return new FaultSchedule(plan.faults().latency(), faults);
  }

  /** The same run with a fault for each packet that was struck, if that fails too. */
  private Plan concrete(Plan plan) {
    List<Fault> strikes = new ArrayList<>();
    runs++;
    Outcome.of(plan, new Arena(), null, strikes);
    Plan concrete = plan.withFaults(schedule(plan, strikes));
    return fails(concrete) ? concrete : plan;
  }

  private boolean fails(Plan plan) {
    runs++;
    return !Outcome.of(plan, new Arena()).isGood();
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
