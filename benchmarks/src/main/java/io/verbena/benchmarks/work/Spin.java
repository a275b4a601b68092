// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.util.concurrent.TimeoutException;

/** A busy wait that checks its deadline now and then. For one thread. */
public final class Spin {
  private static final int LOOK_EVERY = 1 << 16;

  private final Deadline deadline;
  private int spins;

  Spin(Deadline deadline) {
    this.deadline = deadline;
  }

  /** Spins once without yielding the CPU. */
  public void spin() throws TimeoutException {
    if (++spins % LOOK_EVERY == 0) {
      deadline.check();
    }
    Thread.onSpinWait();
  }

  /** Yields the CPU once, for three threads on two CPUs. */
  @SuppressWarnings("ThreadPriorityCheck")
  public void yield() throws TimeoutException {
    if (++spins % LOOK_EVERY == 0) {
      deadline.check();
    }
    Thread.yield();
  }
}
