package io.verbena.simulation;

import io.verbena.emulated.wire.Fault;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What came of a run.
 *
 * @param failure the promise that was broken, or what was thrown; null if all is well
 * @param packets how many were sent
 * @param strikes how often the wire did something to one
 */
record Outcome(@Nullable Throwable failure, int packets, int strikes) {

  static Outcome of(Plan plan, Arena arena) {
    return of(plan, arena, null, null);
  }

  /** Runs a plan. After a failure the arena is of no more use. */
  static Outcome of(
      Plan plan, Arena arena, @Nullable Trace trace, @Nullable List<Fault> strikesInto) {
    World world = new World(plan, arena, trace);
    Throwable failure = null;
    try {
      world.run(strikesInto);
    } catch (RuntimeException | AssertionError e) {
      failure = e;
    }
    return new Outcome(failure, world.packets(), world.strikes());
  }

  boolean isGood() {
    return failure == null;
  }
}
