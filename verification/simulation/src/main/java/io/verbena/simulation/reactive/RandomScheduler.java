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
 * Gives turns in random order, one of them to the wire; where nobody has work, the time goes on.
 */
final class RandomScheduler implements DutyCycleInvoker {
  private static final long STEP_NANOS = 10_000_000;

  private final SplittableRandom random;
  private final SimulatedFabric fabric;
  private final List<DutyCycle> all = new ArrayList<>();
  private @Nullable DutyCycle held;
  private long heldUntil;
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
  public void add(DutyCycle dutyCycle) {
    all.add(dutyCycle);
  }

  /** Gives one of them no turn for so long. */
  void hold(long nanos) {
    held = all.get(random.nextInt(all.size()));
    heldUntil = nanoTime() + nanos;
  }

  /** Gives all of them turns again. */
  void holdNone() {
    held = null;
  }

  @Override
  public boolean awaitFor(BooleanSupplier done, long nanos) {
    long end = nanoTime() + nanos;
    while (!done.getAsBoolean()) {
      if (nanoTime() >= end) {
        return false;
      }
      giveTurn();
    }
    return true;
  }

  private void giveTurn() {
    int chosen = random.nextInt(all.size() + 1);
    boolean worked = chosen == all.size() ? fabric.step(nanoTime()) : giveTurn(all.get(chosen));
    idle = worked ? 0 : idle + 1;
    if (idle > 4 * all.size()) {
      idle = 0;
      goOn();
    }
  }

  private boolean giveTurn(DutyCycle next) {
    if (next == held && nanoTime() < heldUntil) {
      return false;
    }
    boolean worked = next.doWork();
    if (next.isOver()) {
      all.remove(next);
    }
    return worked;
  }

  /** To the next thing on the wire; but deadlines pass without one too. */
  private void goOn() {
    long deadline = nanoTime() + STEP_NANOS;
    if (!fabric.step(deadline)) {
      fabric.time().schedule(STEP_NANOS, () -> {});
      fabric.step(deadline);
    }
  }
}
