// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The thread that executes the requests of a {@link DeferredFabric}. It chooses at random a queue
 * pair that has work and takes one step of that work, again and again. It sleeps while no queue
 * pair has work.
 */
final class AsyncScheduler {
  /**
   * On average one step in this many is followed by a nap, so that polling threads see its result.
   */
  private static final int STEPS_PER_NAP = 12;

  private static final int LONGEST_NAP_NANOS = 50_000;

  private final SplittableRandom random;
  private final Thread thread;
  private final AtomicReference<@Nullable Deferral> scheduled = new AtomicReference<>();
  private final List<Deferral> active = new ArrayList<>();
  private volatile boolean asleep;
  private volatile boolean ended;

  AsyncScheduler(SplittableRandom random, String name) {
    this.random = random;
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  void start() {
    thread.start();
  }

  /** Ends the thread. Called when no queue pair is left. */
  void end() {
    ended = true;
    LockSupport.unpark(thread);
  }

  /** Returns the random numbers of the scheduler. Used by its own thread only. */
  SplittableRandom random() {
    return random;
  }

  /** Schedules the work of a queue pair. Thread-safe. */
  void schedule(Deferral deferral) {
    if (deferral.markScheduled()) {
      Deferral before;
      do {
        before = scheduled.get();
        deferral.next = before;
      } while (!scheduled.compareAndSet(before, deferral));
      if (asleep) {
        LockSupport.unpark(thread);
      }
    }
  }

  private void run() {
    while (!ended) {
      takeScheduled();
      if (active.isEmpty()) {
        sleep();
      } else {
        step(random.nextInt(active.size()));
        if (random.nextInt(STEPS_PER_NAP) == 0) {
          LockSupport.parkNanos(this, 1 + random.nextInt(LONGEST_NAP_NANOS));
        }
      }
    }
  }

  private void takeScheduled() {
    if (scheduled.get() != null) {
      Deferral deferral = scheduled.getAndSet(null);
      while (deferral != null) {
        active.add(deferral);
        deferral = deferral.next;
      }
    }
  }

  private void step(int chosen) {
    Deferral deferral = active.get(chosen);
    if (deferral.step()) {
      return;
    }
    // From here on, a thread that adds work schedules the queue pair again; the second step sees
    // work that was added before.
    deferral.unmarkScheduled();
    if (deferral.step() && deferral.markScheduled()) {
      return;
    }
    Deferral last = active.remove(active.size() - 1);
    if (chosen < active.size()) {
      active.set(chosen, last);
    }
  }

  private void sleep() {
    asleep = true;
    if (scheduled.get() == null && !ended) {
      LockSupport.park(this);
    }
    asleep = false;
  }
}
