// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;

/** Passes tasks from any thread to one: a linked stack, which is taken as a whole and reversed. */
final class TaskStack {
  private static final AtomicReferenceFieldUpdater<TaskStack, @Nullable LoopTask> HEAD =
      AtomicReferenceFieldUpdater.newUpdater(TaskStack.class, LoopTask.class, "head");

  private volatile @Nullable LoopTask head;

  boolean isEmpty() {
    return head == null;
  }

  /** Returns the task that was pushed last, or null. */
  @Nullable LoopTask peek() {
    return head;
  }

  void push(LoopTask task) {
    LoopTask first;
    do {
      first = head;
      task.nextTask(first);
    } while (!HEAD.compareAndSet(this, first, task));
  }

  /** Removes all tasks; returns them linked in the order in which they were pushed. */
  @Nullable LoopTask takeAll() {
    LoopTask task = HEAD.getAndSet(this, null);
    LoopTask ordered = null;
    while (task != null) {
      LoopTask next = task.nextTask();
      task.nextTask(ordered);
      ordered = task;
      task = next;
    }
    return ordered;
  }
}
