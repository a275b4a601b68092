// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.RunResult;
import io.verbena.simulation.scenario.Scenario;
import io.verbena.simulation.scenario.Trace;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * The steps of the two ends of each connection, each end in its own order, and the faults on the
 * wire.
 *
 * @param seed the seed of keys, queue pair numbers and the flow control
 * @param scheduleSeed the seed of the order in which agents take turns
 * @param settings the settings of the whole run
 * @param faults the faults that the wire injects
 * @param steps the steps of all ends
 */
public record ReactiveScenario(
    long seed, long scheduleSeed, Settings settings, FaultSchedule faults, List<Step> steps)
    implements Scenario {
  private static final int PORTS = 2;
  private static final int MIN_STEPS = 8;
  private static final int MAX_STEPS = 60;
  private static final int MAX_STEPS_OF_LONG = 200;
  private static final int MAX_MESSAGES = 30;
  private static final int MAX_MESSAGES_OF_SHORT = 8;
  private static final int MAX_REQUESTED = 6;
  private static final int MAX_OPERATIONS = 8;
  private static final int MAX_STALL_MILLIS = 8000;

  /** Weighted: frequent actions are listed several times. */
  private static final Action[] ACTIONS = {
    Action.SEND,
    Action.SEND,
    Action.SEND,
    Action.REQUEST,
    Action.REQUEST,
    Action.REQUEST,
    Action.REQUEST,
    Action.CANCEL_RECEIVE,
    Action.CANCEL_SEND,
    Action.WRITE,
    Action.WRITE,
    Action.READ,
    Action.READ,
    Action.FETCH_ADD,
    Action.FETCH_ADD,
    Action.COMPARE_SWAP,
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
    Settings settings = Settings.random(random.split());
    boolean mayDisrupt = random.nextInt(6) == 0;
    boolean mayCloseEarly = random.nextInt(6) == 0;
    boolean mayMisbehave = random.nextInt(6) == 0;
    // The second connection never misbehaves, and must be unaffected by the first one.
    int connections = mayMisbehave || random.nextInt(8) == 0 ? 2 : 1;
    List<Step> steps = new ArrayList<>();
    // Many short runs find more than a few long ones, but some mistakes need time.
    int count = MIN_STEPS + random.nextInt(random.nextInt(8) == 0 ? MAX_STEPS_OF_LONG : MAX_STEPS);
    for (int i = 0; i < count; i++) {
      Action action = ACTIONS[random.nextInt(ACTIONS.length)];
      if (random.nextInt(count) == 0 && mayDisrupt) {
        action = DISRUPTIONS[random.nextInt(DISRUPTIONS.length)];
      } else if (random.nextInt(count) == 0 && mayCloseEarly) {
        action = Action.CLOSE;
      }
      int connection = random.nextInt(connections);
      if (mayMisbehave && connection == 0 && random.nextInt(12) == 0) {
        action = Action.MISBEHAVE;
      }
      steps.add(step(i, connection, action, random));
    }
    if (random.nextInt(8) == 0) {
      int at = random.nextInt(count);
      steps.set(at, step(at, 0, Action.DIE, random));
    }
    return new ReactiveScenario(seed, random.nextLong(), settings, faults, steps);
  }

  private static Step step(int number, int connection, Action action, SplittableRandom random) {
    int most =
        switch (action) {
          case SEND -> random.nextInt(4) == 0 ? MAX_MESSAGES : MAX_MESSAGES_OF_SHORT;
          case REQUEST -> MAX_REQUESTED;
          case READ, FETCH_ADD -> random.nextInt(4) == 0 ? MAX_OPERATIONS : 1;
          case MISBEHAVE -> Mischief.COUNT;
          case STALL -> MAX_STALL_MILLIS;
          default -> 1;
        };
    int count = 1 + random.nextInt(most);
    return new Step(
        number, connection, random.nextInt(2), action, count, Integer.MAX_VALUE, random.nextLong());
  }

  /** Returns the number of connections. */
  int connections() {
    int last = 0;
    for (Step step : steps) {
      last = Math.max(last, step.connection());
    }
    return last + 1;
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
    return new ReactiveScenario(seed, scheduleSeed, settings, others, steps);
  }

  @Override
  public ReactiveScenario withSchedule(int variant) {
    return new ReactiveScenario(seed, Choice.mix(scheduleSeed + variant), settings, faults, steps);
  }

  @Override
  public int stepCount() {
    return steps.size();
  }

  @Override
  public ReactiveScenario withSteps(List<Integer> kept) {
    return new ReactiveScenario(
        seed, scheduleSeed, settings, faults, kept.stream().map(steps::get).toList());
  }

  @Override
  public List<ReactiveScenario> simpler() {
    List<ReactiveScenario> all = new ArrayList<>();
    for (Settings simpler : settings.simpler()) {
      all.add(new ReactiveScenario(seed, scheduleSeed, simpler, faults, steps));
    }
    for (int i = 0; i < steps.size(); i++) {
      for (Step smaller : steps.get(i).smaller()) {
        List<Step> changed = new ArrayList<>(steps);
        changed.set(i, smaller);
        all.add(new ReactiveScenario(seed, scheduleSeed, settings, faults, changed));
      }
    }
    return all;
  }

  @Override
  public void print(PrintWriter out) {
    out.printf("%s%nlatency %d ns%n", settings, faults.latency());
    faults.faults().forEach(fault -> out.printf("  fault: %s%n", fault));
    steps.forEach(step -> out.printf("  %s%n", step));
  }
}
