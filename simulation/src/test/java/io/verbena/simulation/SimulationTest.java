package io.verbena.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What RC promises holds, whatever the wire does. */
class SimulationTest {
  private static final long SEEDS = 20_000;

  @Test
  @Timeout(600)
  void keepsEveryPromiseInEveryRun() throws InterruptedException {
    Seeds seeds = new Seeds(0, SEEDS);

    Long failed = seeds.run(Runtime.getRuntime().availableProcessors(), done -> {});

    assertThat(failed).as("the seed that failed; bin/simulate --seed SEED replays it").isNull();
    assertThat(seeds.done()).isEqualTo(SEEDS);
    // What would show that nothing was sent, or nothing done to it.
    assertThat(seeds.packets()).isGreaterThan(20 * SEEDS);
    assertThat(seeds.strikes()).isGreaterThan(SEEDS);
  }

  @Test
  void doesTheSameAgainForTheSameSeed() {
    for (long seed = 0; seed < 50; seed++) {
      assertThat(trace(Plan.of(seed))).as("seed %d", seed).isEqualTo(trace(Plan.of(seed)));
    }
  }

  @Test
  void doesTheSameWithFaultsOfSinglePackets() {
    for (long seed = 0; seed < 50; seed++) {
      Plan plan = Plan.of(seed);
      List<Fault> strikes = new ArrayList<>();
      Outcome.of(plan, new Arena(), null, strikes);

      Plan concrete = plan.withFaults(new FaultSchedule(plan.faults().latency(), strikes));

      assertThat(events(concrete)).as("seed %d", seed).isEqualTo(events(plan));
    }
  }

  private static String trace(Plan plan) {
    return trace(plan, null);
  }

  /** Without the names of the faults, which a list of strikes calls differently. */
  private static List<String> events(Plan plan) {
    return trace(plan, null).lines().map(line -> line.replaceAll("\\*\\*\\*.*", "***")).toList();
  }

  private static String trace(Plan plan, @Nullable List<Fault> strikes) {
    StringWriter text = new StringWriter();
    Outcome outcome =
        Outcome.of(plan, new Arena(), new Trace(new PrintWriter(text, true)), strikes);
    assertThat(outcome.failure()).isNull();
    return text.toString();
  }
}
