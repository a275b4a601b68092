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
 * What two ends of a connection do, each its steps in their order, and what the wire does.
 *
 * @param seed what it was made of, and all chance that is not in the steps
 * @param faults what the wire does
 * @param list the steps of both ends
 */
public record ReactiveScenario(long seed, FaultSchedule faults, List<Step> list) implements Scenario {
  private static final int PORTS = 2;
  private static final int LEAST_STEPS = 20;
  private static final int MOST_STEPS = 200;

  /** Weighted: what programs do most stands there most. */
  private static final Action[] ACTS = {
    Action.SEND,
    Action.SEND,
    Action.ASK,
    Action.ASK,
    Action.ASK,
    Action.CANCEL_RECEIVE,
    Action.CANCEL_SEND,
    Action.WRITE,
    Action.READ,
    Action.ADD,
    Action.SWAP,
    Action.CANCEL_OPERATION
  };

  private static final Action[] DISTURBANCES = {Action.DISPOSE, Action.HOLD};

  /** The script of a seed. */
  public static ReactiveScenario of(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    long latency = random.nextLong(20_000);
    long span = 1L << (14 + random.nextInt(14));
    FaultSchedule faults = FaultSchedule.random(random.nextLong(), PORTS, span, latency);
    boolean mayDisturb = random.nextInt(6) == 0;
    boolean mayCloseEarly = random.nextInt(6) == 0;
    List<Step> steps = new ArrayList<>();
    int count = LEAST_STEPS + random.nextInt(MOST_STEPS);
    for (int i = 0; i < count; i++) {
      Action act = ACTS[random.nextInt(ACTS.length)];
      if (random.nextInt(count) == 0 && mayDisturb) {
        act = DISTURBANCES[random.nextInt(DISTURBANCES.length)];
      } else if (random.nextInt(count) == 0 && mayCloseEarly) {
        act = Action.CLOSE;
      }
      steps.add(new Step(i, random.nextInt(2), act, random.nextLong()));
    }
    return new ReactiveScenario(seed, faults, steps);
  }

  /** What both transports are made with. */
  RdmaOptions options() {
    SplittableRandom random = new SplittableRandom(~seed);
    return RdmaOptions.builder()
        .loops(1)
        // Some gather large eager messages, and send frames of several packets.
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
  public RunResult run(Arena arena, @Nullable Trace trace, @Nullable List<Fault> strikesInto) {
    ReactiveSimulation run = new ReactiveSimulation(this, arena, trace, strikesInto);
    Throwable failure = run.run();
    return new RunResult(failure, run.watch().packets(), run.watch().strikes());
  }

  @Override
  public ReactiveScenario withFaults(FaultSchedule others) {
    return new ReactiveScenario(seed, others, list);
  }

  @Override
  public int steps() {
    return list.size();
  }

  @Override
  public ReactiveScenario withSteps(List<Integer> kept) {
    return new ReactiveScenario(seed, faults, kept.stream().map(list::get).toList());
  }

  @Override
  public void print(PrintWriter out) {
    out.printf("%s%nlatency %d ns%n", options(), faults.latency());
    faults.faults().forEach(fault -> out.printf("  fault: %s%n", fault));
    list.forEach(step -> out.printf("  %s%n", step));
  }
}
