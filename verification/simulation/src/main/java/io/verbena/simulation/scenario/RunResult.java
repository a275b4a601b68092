package io.verbena.simulation.scenario;

import org.jspecify.annotations.Nullable;

/**
 * What came of a run.
 *
 * @param failure the promise that was broken, or what was thrown; null if all is well
 * @param packets how many were sent
 * @param strikes how often the wire did something to one
 */
public record RunResult(@Nullable Throwable failure, int packets, int strikes) {

  /** Whether no promise was broken. */
  public boolean isGood() {
    return failure == null;
  }
}
