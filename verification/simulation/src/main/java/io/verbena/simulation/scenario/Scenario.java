// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

import io.verbena.emulated.engine.FlowControl;
import io.verbena.emulated.wire.Fault;
import io.verbena.emulated.wire.FaultSchedule;
import java.io.PrintWriter;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/** A program and a fault schedule. They determine everything that happens in a run. Immutable. */
public interface Scenario {
  /** The largest congestion window of adaptive flow control, in packets. */
  int MAX_PACKETS = 32;

  /** The largest part of a READ that adaptive flow control requests at once, in packets. */
  int MAX_READ_PACKETS = 5;

  /**
   * Runs the scenario. The arena must not be used again after a failure.
   *
   * @param trace prints each packet and event, or null
   * @param injectedFaults receives each fault that the wire injected into a packet, or null
   */
  RunResult run(Arena arena, @Nullable Trace trace, @Nullable List<Fault> injectedFaults);

  /** Returns the seed of keys, queue pair numbers and random choices outside of the steps. */
  long seed();

  /**
   * Returns whether queue pairs use adaptive flow control, as they do over UDP: true for every
   * fourth seed.
   */
  static boolean isAdaptive(long seed) {
    return (seed & 3) == 3;
  }

  /**
   * Returns the flow control of the queue pairs: adaptive as over UDP, or fixed as on a lossless
   * network.
   */
  default FlowControl flowControl() {
    if (!isAdaptive(seed())) {
      return FlowControl.FIXED;
    }
    SplittableRandom random = new SplittableRandom(~seed());
    return new FlowControl(
        1 + random.nextInt(MAX_PACKETS),
        1 + random.nextInt(MAX_READ_PACKETS),
        /* adaptive= */ true,
        /* lossless= */ random.nextBoolean());
  }

  /** Returns the faults that the wire injects. */
  FaultSchedule faults();

  /** Returns the same scenario with other faults. */
  Scenario withFaults(FaultSchedule others);

  /** Returns the number of steps of the program. */
  int stepCount();

  /**
   * Returns the same scenario with only some of its steps.
   *
   * @param kept the indexes of the steps to keep, ascending
   */
  Scenario withSteps(List<Integer> kept);

  /**
   * Returns the same scenario with another order of simultaneous events, or this scenario if its
   * order is fixed.
   */
  default Scenario withSchedule(int variant) {
    return this;
  }

  /**
   * Returns scenarios that differ from this one in one number, and do less. The shrinker replaces
   * this scenario by the first of them that fails.
   */
  default List<? extends Scenario> simpler() {
    return List.of();
  }

  /** Prints the scenario in human-readable form. */
  void print(PrintWriter out);
}
