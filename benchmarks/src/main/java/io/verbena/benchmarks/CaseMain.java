// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.work.CacheLineGauge;
import io.verbena.benchmarks.work.DataCheckFailed;
import io.verbena.benchmarks.work.Measurement;
import io.verbena.benchmarks.work.OtherLoad;
import io.verbena.benchmarks.work.Plan;
import java.time.Duration;
import java.util.List;

/** The program of one case: takes the gauge, measures, takes the gauge again, prints figures. */
final class CaseMain {
  static final int DATA_CHECK_FAILED = 3;
  static final int FAILED = 4;

  private CaseMain() {}

  /** Returns the arguments with which {@link #main} runs a case under a plan. */
  static List<String> arguments(String caseId, Plan plan) {
    return List.of(
        caseId,
        Long.toString(plan.warmUp().toMillis()),
        Integer.toString(plan.repetitions()),
        Long.toString(plan.repetition().toMillis()));
  }

  public static void main(String[] arguments) {
    // Halts rather than exits: a participant that failed may have left threads that never end.
    Runtime.getRuntime().halt(run(arguments));
  }

  private static int run(String[] arguments) {
    try {
      String caseId = arguments[0];
      Plan plan =
          new Plan(
              Duration.ofMillis(Long.parseLong(arguments[1])),
              Integer.parseInt(arguments[2]),
              Duration.ofMillis(Long.parseLong(arguments[3])));
      BenchCase<?> benchCase =
          Catalog.cases().stream()
              .filter(each -> each.id().equals(caseId))
              .findFirst()
              .orElseThrow(() -> new IllegalArgumentException("case: unknown: " + caseId));
      double before = CacheLineGauge.nanos();
      OtherLoad others = new OtherLoad();
      Measurement measurement = benchCase.run(plan);
      double otherCpus = others.cpus();
      double after = CacheLineGauge.nanos();
      System.out.println(new Figures(measurement, before, after, otherCpus).encode());
      System.out.flush();
      return 0;
    } catch (DataCheckFailed e) {
      e.printStackTrace();
      return DATA_CHECK_FAILED;
    } catch (Exception | Error e) {
      e.printStackTrace();
      return FAILED;
    }
  }
}
