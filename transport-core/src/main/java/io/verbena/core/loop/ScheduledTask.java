// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.jspecify.annotations.Nullable;

/** A {@link LoopTask} with link and mark, for classes without another superclass. */
public abstract class ScheduledTask implements LoopTask {
  private static final AtomicIntegerFieldUpdater<ScheduledTask> SCHEDULED =
      AtomicIntegerFieldUpdater.newUpdater(ScheduledTask.class, "scheduled");

  private volatile int scheduled;
  private @Nullable LoopTask nextTask;

  /** For subclasses. */
  protected ScheduledTask() {}

  /** Returns a task that runs {@code action}, for cold paths. */
  public static ScheduledTask of(Runnable action) {
    return new ScheduledTask() {
      @Override
      public void run() {
        action.run();
      }
    };
  }

  @Override
  public final boolean markScheduled() {
    return SCHEDULED.getAndSet(this, 1) == 0;
  }

  @Override
  public final void clearScheduled() {
    if (scheduled != 0) {
      SCHEDULED.getAndSet(this, 0);
    }
  }

  @Override
  public final @Nullable LoopTask nextTask() {
    return nextTask;
  }

  @Override
  public final void nextTask(@Nullable LoopTask next) {
    nextTask = next;
  }
}
