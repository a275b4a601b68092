// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The work of an {@link AsyncScheduler} for one queue pair. */
final class Deferral {
  /** The next scheduled queue pair's work; used by the scheduler. */
  @Nullable Deferral next;

  private final AsyncScheduler scheduler;
  private final SplittableRandom random;
  private final DeferredSends sends;
  private final DeferredReceives receives;
  private final AtomicBoolean scheduled = new AtomicBoolean();

  Deferral(AsyncScheduler scheduler, DeferredSends sends, DeferredReceives receives) {
    this.scheduler = scheduler;
    random = scheduler.random();
    this.sends = sends;
    this.receives = receives;
  }

  /** Schedules this work. Called when there may be something to do. */
  void schedule() {
    scheduler.schedule(this);
  }

  boolean markScheduled() {
    return !scheduled.get() && scheduled.compareAndSet(false, true);
  }

  void unmarkScheduled() {
    scheduled.set(false);
  }

  /**
   * Takes one of the steps that are allowed now; returns false if there is none. Called by the
   * scheduler.
   */
  boolean step() {
    return random.nextBoolean()
        ? sends.step(random) || receives.showOne()
        : receives.showOne() || sends.step(random);
  }
}
