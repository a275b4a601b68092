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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is promised holds, whatever the wire does. */
class SimulationTest {
  private static final long SEEDS = 20_000;
  private static final long REACTIVE_SEEDS = 200;

  @Test
  @Timeout(600)
  void keepsEveryPromiseInEveryRun() throws InterruptedException {
    keepsEveryPromise(Program.VERBS, SEEDS);
  }

  @Test
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
    assertThat(seeds.done()).isEqualTo(count);
    // What would show that nothing was sent, or nothing done to it.
    assertThat(seeds.packets()).isGreaterThan(20 * count);
    assertThat(seeds.strikes()).isGreaterThan(count);
  }

  @ParameterizedTest
  @CsvSource({"VERBS, 50", "REACTIVE, 10"})
  void doesTheSameAgainForTheSameSeed(Program program, long seeds) {
    for (long seed = 0; seed < seeds; seed++) {
      String trace = trace(program.of(seed));

      assertThat(trace(program.of(seed))).as("seed %d", seed).isEqualTo(trace);
    }
  }

  @ParameterizedTest
  @CsvSource({"VERBS, 50", "REACTIVE, 10"})
  void doesTheSameWithFaultsOfSinglePackets(Program program, long seeds) {
    for (long seed = 0; seed < seeds; seed++) {
      Scenario script = program.of(seed);
      List<Fault> strikes = new ArrayList<>();
      script.run(new Arena(), null, strikes);

      Scenario concrete = script.withFaults(new FaultSchedule(script.faults().latency(), strikes));

      assertThat(events(concrete)).as("seed %d", seed).isEqualTo(events(script));
    }
  }

  /** Without the names of the faults, which a list of strikes calls differently. */
  private static List<String> events(Scenario script) {
    return trace(script).lines().map(line -> line.replaceAll("\\*\\*\\*.*", "***")).toList();
  }

  private static String trace(Scenario script) {
    StringWriter text = new StringWriter();
    RunResult outcome = script.run(new Arena(), new Trace(new PrintWriter(text, true)), null);
    assertThat(outcome.failure()).isNull();
    return text.toString();
  }
}
