// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.verbena.HcaException;
import io.verbena.RdmaTimeoutException;
import io.verbena.core.loop.AwaitedVisitor;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.Ticks;
import io.verbena.reactor.guard.Admission;
import io.verbena.verbs.VerbsException;
import org.jspecify.annotations.Nullable;

/**
 * A queue of operations that wait for a slot, first in, first out. It is a linked list, which a
 * watchdog may follow while the loop changes it. All else is only on the loop.
 */
final class OperationQueue {
  private final CompletionLoop loop;
  private final Ticks ticks;
  private final Admission admission;
  private @Nullable OneSidedOperation<?> first;
  private @Nullable OneSidedOperation<?> last;
  private int count;

  OperationQueue(CompletionLoop loop, Ticks ticks, Admission admission) {
    this.loop = loop;
    this.ticks = ticks;
    this.admission = admission;
  }

  boolean isEmpty() {
    return first == null;
  }

  /** Returns the ticket of the first operation, or {@link Long#MAX_VALUE} if none waits. */
  long nextTicket() {
    OneSidedOperation<?> next = first;
    return next == null ? Long.MAX_VALUE : next.ticket;
  }

  /**
   * Posts an operation, or queues it, or fails it if too many wait.
   *
   * @param isNext whether no other operation is to be posted before it
   */
  void start(OneSidedOperation<?> operation, boolean isNext) {
    if (isNext && post(operation)) {
      return;
    }
    if (count >= admission.most()) {
      operation.abort(admission.tooMany(operation.operation(), count));
      return;
    }
    operation.since = loop.tick();
    if (last == null) {
      first = operation;
    } else {
      last.nextWaiting = operation;
    }
    last = operation;
    count++;
    ticks.ask();
  }

  /** Removes the one behind {@code before}, or the first. */
  private void unlink(@Nullable OneSidedOperation<?> before, OneSidedOperation<?> operation) {
    if (before == null) {
      first = operation.nextWaiting;
    } else {
      before.nextWaiting = operation.nextWaiting;
    }
    if (last == operation) {
      last = before;
    }
    operation.nextWaiting = null;
    count--;
  }

  private boolean post(OneSidedOperation<?> operation) {
    VerbsException refusal = null;
    try {
      if (!operation.post()) {
        return false;
      }
    } catch (VerbsException e) {
      refusal = e;
    }
    // Before the subscriber is signalled: it may start another operation.
    if (first == operation) {
      unlink(null, operation);
    }
    if (refusal != null) {
      operation.abort(
          new HcaException(
              operation.operation(),
              admission.peer(),
              null,
              "the HCA refused the request",
              refusal));
    }
    return true;
  }

  /** Posts the first, if there is one and it may be posted now; returns whether it was. */
  boolean advance() {
    OneSidedOperation<?> next = first;
    return next != null && post(next);
  }

  /** Forgets an operation that was cancelled while it waited. */
  void remove(OneSidedOperation<?> operation) {
    OneSidedOperation<?> before = null;
    for (OneSidedOperation<?> each = first; each != null; each = each.nextWaiting) {
      if (each == operation) {
        unlink(before, each);
        return;
      }
      before = each;
    }
  }

  /** Fails operations that have waited for longer than so many ticks. */
  void expire(int ticks) {
    for (OneSidedOperation<?> next = first;
        next != null && loop.tick() - next.since > ticks;
        next = first) {
      unlink(null, next);
      next.abort(
          new RdmaTimeoutException(
              next.operation(),
              admission.peer(),
              "it found no place in the send queue, or no credit, within operationTimeout"));
    }
  }

  /** Fails all operations. */
  void fail(OneSidedOperations.Failure failure) {
    for (OneSidedOperation<?> next = first; next != null; next = first) {
      unlink(null, next);
      next.abort(failure.of(next.operation()));
    }
  }

  /** Calls {@code visitor} with all operations; on a watchdog's thread. */
  void forEachAwaited(AwaitedVisitor visitor) {
    int now = loop.tick();
    // Bounded: if operations leave and wait again meanwhile, the links may form a circle.
    int left = admission.most();
    for (OneSidedOperation<?> each = first; each != null && left > 0; each = each.nextWaiting) {
      visitor.visit(each, now - each.since);
      left--;
    }
  }
}
