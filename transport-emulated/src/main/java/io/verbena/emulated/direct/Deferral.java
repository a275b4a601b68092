// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** What an {@link AsyncScheduler} has to do for one queue pair. */
final class Deferral {
  /** Next of those that are scheduled; the scheduler's. */
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

  /** There may be something to do. */
  void schedule() {
    scheduler.schedule(this);
  }

  boolean markScheduled() {
    return !scheduled.get() && scheduled.compareAndSet(false, true);
  }

  void unmarkScheduled() {
    scheduled.set(false);
  }

  /** Does one of the things that may be done now; false if there is none. For the scheduler. */
  boolean step() {
    return random.nextBoolean()
        ? sends.step(random) || receives.showOne()
        : receives.showOne() || sends.step(random);
  }
}
