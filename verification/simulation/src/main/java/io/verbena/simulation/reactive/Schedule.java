// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import io.verbena.emulated.wire.VirtualTime;
import java.util.SplittableRandom;

/**
 * The random choices of the order of events. They restart at each moment of virtual time, so that
 * removing a step does not change the choices at other moments.
 */
final class Schedule {
  private final long seed;
  private final VirtualTime time;
  private SplittableRandom random;
  private long moment;

  Schedule(long seed, VirtualTime time) {
    this.seed = seed;
    this.time = time;
    moment = time.now();
    random = at(moment);
  }

  private SplittableRandom at(long now) {
    return new SplittableRandom(Choice.mix(seed ^ Choice.mix(now)));
  }

  /** Returns a number from 0 to {@code bound - 1}. */
  int below(int bound) {
    long now = time.now();
    if (now != moment) {
      moment = now;
      random = at(now);
    }
    return random.nextInt(bound);
  }

  boolean oneIn(int n) {
    return below(n) == 0;
  }
}
