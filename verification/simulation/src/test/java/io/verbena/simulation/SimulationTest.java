// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.RunResult;
import io.verbena.simulation.scenario.Scenario;
import io.verbena.simulation.scenario.Trace;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests that the runs of many seeds have no violation and that a run depends on its seed only. */
class SimulationTest {
  private static final long SEEDS = 20_000;
  private static final long STREAM_SEEDS = 5_000;
  private static final long REACTIVE_SEEDS = 10_000;

  @Test
  @Tag("once")
  @Timeout(600)
  void keepsEveryPromiseInEveryRun() throws InterruptedException {
    keepsEveryPromise(Program.VERBS, SEEDS);
  }

  @Test
  @Tag("once")
  @Timeout(600)
  void keepsEveryPromiseOfStreamsInEveryRun() throws InterruptedException {
    keepsEveryPromise(Program.IWARP, STREAM_SEEDS);
  }

  @Test
  @Tag("once")
  @Timeout(600)
  void keepsEveryPromiseOfTheReactiveLayerInEveryRun() throws InterruptedException {
    keepsEveryPromise(Program.REACTIVE, REACTIVE_SEEDS);
  }

  private static void keepsEveryPromise(Program program, long count) throws InterruptedException {
    SeedRunner seeds = new SeedRunner(program, 0, count);

    Long failed = seeds.run(Runtime.getRuntime().availableProcessors(), done -> {});

    assertThat(failed)
        .as("the seed that failed; bin/simulate --program %s --seed SEED replays it", program)
        .isNull();
    assertThat(seeds.completed()).isEqualTo(count);
    // Guards against runs that send no packets or inject no faults.
    assertThat(seeds.packets()).isGreaterThan(20 * count);
    assertThat(seeds.injectedFaults()).isGreaterThan(count);
  }

  @ParameterizedTest
  @CsvSource({"VERBS, 50", "IWARP, 50", "REACTIVE, 10"})
  void doesTheSameAgainForTheSameSeed(Program program, long seeds) {
    for (long seed = 0; seed < seeds; seed++) {
      String trace = trace(program.generate(seed));

      assertThat(trace(program.generate(seed))).as("seed %d", seed).isEqualTo(trace);
    }
  }

  @ParameterizedTest
  @CsvSource({"VERBS, 50", "IWARP, 50", "REACTIVE, 10"})
  void doesTheSameWithFaultsOfSinglePackets(Program program, long seeds) {
    for (long seed = 0; seed < seeds; seed++) {
      Scenario scenario = program.generate(seed);
      List<Fault> injectedFaults = new ArrayList<>();
      scenario.run(new Arena(), null, injectedFaults);

      Scenario withConcreteFaults =
          scenario.withFaults(new FaultSchedule(scenario.faults().latency(), injectedFaults));

      assertThat(events(withConcreteFaults)).as("seed %d", seed).isEqualTo(events(scenario));
    }
  }

  /**
   * Returns the trace lines without the kinds of faults, which differ in a list of injected faults.
   */
  private static List<String> events(Scenario scenario) {
    return trace(scenario).lines().map(line -> line.replaceAll("\\*\\*\\*.*", "***")).toList();
  }

  private static String trace(Scenario scenario) {
    StringWriter text = new StringWriter();
    RunResult result = scenario.run(new Arena(), new Trace(new PrintWriter(text, true)), null);
    assertThat(result.failure()).isNull();
    return text.toString();
  }
}
