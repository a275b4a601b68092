// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.core.loop.DutyCycle;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.emulated.SimulatedFabric;
import io.verbena.simulation.scenario.Violation;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the agents and the wire one at a time, in random order. Advances the virtual time to the
 * next event or deadline once none of them has work.
 */
final class RandomScheduler {
  /** The limit of turns of a run: hundreds of times the number that a run takes. */
  private static final long MOST_TURNS = 10_000_000;

  /** The host number of the wire, which belongs to no host. */
  private static final int NO_HOST = -1;

  private final Schedule schedule;
  private final SimulatedFabric fabric;
  private final long mostTurns;
  private long turns;

  /** The first {@link #candidates} agents may have work; the others had none at this moment. */
  private final List<Agent> agents = new ArrayList<>();

  private int candidates;

  /** The rounds in which no agent had work, and no event or deadline was left to wait for. */
  private int roundsWithoutEvent;

  private @Nullable Agent stalled;
  private long stalledUntil;
  private int deadHost = NO_HOST;

  /** The host whose agents wait because one of them has not returned, or {@link #NO_HOST}. */
  private int heldHost = NO_HOST;

  /** A duty cycle of the scheduler, with its host. It ends with its host. */
  private static final class Agent {
    private final DutyCycle work;
    private final int host;

    Agent(DutyCycle work, int host) {
      this.work = work;
      this.host = host;
    }
  }

  RandomScheduler(Schedule schedule, SimulatedFabric fabric) {
    this(schedule, fabric, MOST_TURNS);
  }

  RandomScheduler(Schedule schedule, SimulatedFabric fabric, long mostTurns) {
    this.schedule = schedule;
    this.fabric = fabric;
    this.mostTurns = mostTurns;
    add(new WireEvents(), NO_HOST);
  }

  /** Delivers the packets that are due at the current virtual time. */
  private final class WireEvents implements DutyCycle {
    @Override
    public boolean doWork() {
      return fabric.step(now());
    }

    @Override
    public boolean isOver() {
      return false;
    }
  }

  long now() {
    return fabric.time().now();
  }

  void add(DutyCycle work, int host) {
    agents.add(new Agent(work, host));
    wakeAll();
  }

  /** Returns the invoker that runs the agents of a transport on a host. */
  DutyCycleInvoker invoker(int host) {
    return new DutyCycleInvoker() {
      @Override
      public long nanoTime() {
        return now();
      }

      @Override
      public void add(DutyCycle dutyCycle) {
        RandomScheduler.this.add(dutyCycle, host);
      }

      @Override
      public boolean awaitFor(BooleanSupplier done, long nanos) {
        return RandomScheduler.this.awaitFor(done, nanos);
      }
    };
  }

  /** Stalls one randomly chosen agent, never the wire, for {@code nanos}. */
  void stall(long seed, long nanos) {
    List<Agent> all = new ArrayList<>(agents);
    all.removeIf(agent -> agent.host == NO_HOST);
    stalled = all.get(Choice.STALLED_AGENT.below(all.size(), seed, 0));
    stalledUntil = now() + nanos;
  }

  /**
   * Runs the wire and the other hosts for {@code nanos}, while an agent of this host is within
   * {@link DutyCycle#doWork}.
   */
  void holdUp(int host, long nanos) {
    if (heldHost != NO_HOST) {
      // Called by the other host meanwhile: with both held up, only the wire would run.
      return;
    }
    heldHost = host;
    awaitFor(() -> false, nanos);
    heldHost = NO_HOST;
    roundsWithoutEvent = 0;
    wakeAll();
  }

  /** Stops running the agents of a host. */
  void kill(int host) {
    deadHost = host;
  }

  /** Ends every stall. */
  void endStall() {
    stalled = null;
    wakeAll();
  }

  /** Ends every stall, and runs all agents again. */
  void resumeAll() {
    endStall();
    deadHost = NO_HOST;
    wakeAll();
  }

  /**
   * Runs agents until a condition holds, {@code nanos} have passed, or no event or deadline is
   * left. Returns whether the condition holds.
   *
   * @throws Violation if the agents have work without end
   */
  boolean awaitFor(BooleanSupplier done, long nanos) {
    long end = now() + nanos;
    roundsWithoutEvent = 0;
    while (!done.getAsBoolean()) {
      if (now() >= end || roundsWithoutEvent > 1) {
        return false;
      }
      runOne(end);
    }
    return true;
  }

  private void wakeAll() {
    candidates = agents.size();
  }

  private void runOne(long end) {
    Violation.require(++turns <= mostTurns, "agents still have work after turns:", mostTurns);
    if (candidates == 0) {
      advanceTime(end);
      wakeAll();
      return;
    }
    int chosen = schedule.below(candidates);
    Agent agent = agents.get(chosen);
    boolean worked = mayRun(agent) && agent.work.doWork();
    // Doing work may have added agents, which wakes all.
    if (agent.work.isOver()) {
      agents.remove(agent);
      wakeAll();
    } else if (worked) {
      roundsWithoutEvent = 0;
      wakeAll();
    } else if (chosen < candidates && agents.get(chosen) == agent) {
      candidates--;
      agents.set(chosen, agents.get(candidates));
      agents.set(candidates, agent);
    }
  }

  private boolean mayRun(Agent agent) {
    return (agent.host != deadHost || deadHost == NO_HOST)
        && (agent.host != heldHost || heldHost == NO_HOST)
        && (agent != stalled || now() >= stalledUntil);
  }

  /** Advances to the next event on the wire or to the next deadline of an agent. */
  private void advanceTime(long end) {
    long now = now();
    long deadline = nextDeadline();
    roundsWithoutEvent++;
    long limit = Math.min(deadline, end);
    if (fabric.step(limit)) {
      roundsWithoutEvent = 0;
    } else if (deadline != Long.MAX_VALUE) {
      roundsWithoutEvent = 0;
      fabric.time().schedule(limit - now, () -> {});
      fabric.step(limit);
    }
  }

  private long nextDeadline() {
    long now = now();
    long next = Long.MAX_VALUE;
    for (Agent agent : agents) {
      if (agent == stalled && now < stalledUntil) {
        next = Math.min(next, stalledUntil);
      } else if (mayRun(agent)) {
        next = Math.min(next, agent.work.deadline());
      }
    }
    // A deadline in the past was already handled: its agent found nothing to do.
    return Math.max(next, now + 1);
  }
}
