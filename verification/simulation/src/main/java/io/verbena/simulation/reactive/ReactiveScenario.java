// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.RdmaOptions;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.RunResult;
import io.verbena.simulation.scenario.Scenario;
import io.verbena.simulation.scenario.Trace;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The steps of the two ends of a connection, each end in its own order, and the faults on the wire.
 *
 * @param seed the seed of the scenario and of all random choices outside the steps
 * @param faults the faults that the wire injects
 * @param steps the steps of both ends
 */
public record ReactiveScenario(long seed, FaultSchedule faults, List<Step> steps)
    implements Scenario {
  private static final int PORTS = 2;
  private static final int MIN_STEPS = 20;
  private static final int MAX_STEPS = 200;

  /** Weighted: frequent actions are listed several times. */
  private static final Action[] ACTIONS = {
    Action.SEND,
    Action.SEND,
    Action.REQUEST,
    Action.REQUEST,
    Action.REQUEST,
    Action.CANCEL_RECEIVE,
    Action.CANCEL_SEND,
    Action.WRITE,
    Action.READ,
    Action.FETCH_ADD,
    Action.COMPARE_SWAP,
    Action.CANCEL_OPERATION
  };

  private static final Action[] DISRUPTIONS = {Action.DISPOSE, Action.STALL};

  /** Generates the scenario of a seed. */
  public static ReactiveScenario generate(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long latency = random.nextLong(20_000);
    long span = 1L << (14 + random.nextInt(14));
    FaultSchedule faults = FaultSchedule.random(random.nextLong(), PORTS, span, latency);
    boolean mayDisrupt = random.nextInt(6) == 0;
    boolean mayCloseEarly = random.nextInt(6) == 0;
    List<Step> steps = new ArrayList<>();
    int count = MIN_STEPS + random.nextInt(MAX_STEPS);
    for (int i = 0; i < count; i++) {
      Action action = ACTIONS[random.nextInt(ACTIONS.length)];
      if (random.nextInt(count) == 0 && mayDisrupt) {
        action = DISRUPTIONS[random.nextInt(DISRUPTIONS.length)];
      } else if (random.nextInt(count) == 0 && mayCloseEarly) {
        action = Action.CLOSE;
      }
      steps.add(new Step(i, random.nextInt(2), action, random.nextLong()));
    }
    return new ReactiveScenario(seed, faults, steps);
  }

  /** The options of both transports. */
  RdmaOptions options() {
    SplittableRandom random = new SplittableRandom(~seed);
    return RdmaOptions.builder()
        .loops(1)
        // Some eager sizes are larger than the MTU, so that frames take several packets.
        .eagerSize(64 + random.nextInt(random.nextInt(3) == 0 ? 8000 : 960))
        .receiveDepth(4 + random.nextInt(12))
        .sendDepth(4 + random.nextInt(12))
        .window(1 + random.nextInt(20))
        .maxMessageSize(1 << 17)
        .readAhead(random.nextInt(1 << 14))
        .maxOperations(1 + random.nextInt(64))
        .maxRegisteredBytes(1 << 22)
        .connectTimeout(Duration.ofSeconds(30))
        .operationTimeout(Duration.ofSeconds(4))
        .closeTimeout(Duration.ofSeconds(2))
        .build();
  }

  @Override
  public RunResult run(Arena arena, @Nullable Trace trace, @Nullable List<Fault> injectedFaults) {
    ReactiveSimulation simulation = new ReactiveSimulation(this, arena, trace, injectedFaults);
    Throwable failure = simulation.run();
    return new RunResult(
        failure, simulation.observer().packets(), simulation.observer().injectedFaults());
  }

  @Override
  public ReactiveScenario withFaults(FaultSchedule others) {
    return new ReactiveScenario(seed, others, steps);
  }

  @Override
  public int stepCount() {
    return steps.size();
  }

  @Override
  public ReactiveScenario withSteps(List<Integer> kept) {
    return new ReactiveScenario(seed, faults, kept.stream().map(steps::get).toList());
  }

  @Override
  public void print(PrintWriter out) {
    out.printf("%s%nlatency %d ns%n", options(), faults.latency());
    faults.faults().forEach(fault -> out.printf("  fault: %s%n", fault));
    steps.forEach(step -> out.printf("  %s%n", step));
  }
}
