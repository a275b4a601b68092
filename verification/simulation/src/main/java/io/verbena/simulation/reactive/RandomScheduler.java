// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.core.loop.DutyCycle;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.emulated.SimulatedFabric;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the agents and the wire one at a time, in random order. Advances the virtual time once none
 * of them has work.
 */
final class RandomScheduler implements DutyCycleInvoker {
  private static final long STEP_NANOS = 10_000_000;

  private final SplittableRandom random;
  private final SimulatedFabric fabric;
  private final List<DutyCycle> agents = new ArrayList<>();
  private @Nullable DutyCycle stalled;
  private long stalledUntil;
  private int idle;

  RandomScheduler(SplittableRandom random, SimulatedFabric fabric) {
    this.random = random;
    this.fabric = fabric;
  }

  @Override
  public long nanoTime() {
    return fabric.time().now();
  }

  @Override
  public void add(DutyCycle agent) {
    agents.add(agent);
  }

  /** Stalls one agent, chosen at random, for this time. */
  void stall(long nanos) {
    stalled = agents.get(random.nextInt(agents.size()));
    stalledUntil = nanoTime() + nanos;
  }

  /** Ends every stall. */
  void resumeAll() {
    stalled = null;
  }

  @Override
  public boolean awaitFor(BooleanSupplier done, long nanos) {
    long end = nanoTime() + nanos;
    while (!done.getAsBoolean()) {
      if (nanoTime() >= end) {
        return false;
      }
      runOne();
    }
    return true;
  }

  private void runOne() {
    int chosen = random.nextInt(agents.size() + 1);
    boolean worked = chosen == agents.size() ? fabric.step(nanoTime()) : runOne(agents.get(chosen));
    idle = worked ? 0 : idle + 1;
    if (idle > 4 * agents.size()) {
      idle = 0;
      advanceTime();
    }
  }

  private boolean runOne(DutyCycle next) {
    if (next == stalled && nanoTime() < stalledUntil) {
      return false;
    }
    boolean worked = next.doWork();
    if (next.isOver()) {
      agents.remove(next);
    }
    return worked;
  }

  /**
   * Advances to the next event on the wire, or by one step, so that deadlines expire without events
   * too.
   */
  private void advanceTime() {
    long deadline = nanoTime() + STEP_NANOS;
    if (!fabric.step(deadline)) {
      fabric.time().schedule(STEP_NANOS, () -> {});
      fabric.step(deadline);
    }
  }
}
