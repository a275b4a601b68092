// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.onesided;

import io.verbena.HcaException;
import io.verbena.RdmaTimeoutException;
import io.verbena.core.loop.CompletionLoop;
import io.verbena.reactor.guard.Admission;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;

/** Operations that wait for a slot, first come, first served. */
final class OperationQueue {
  private final CompletionLoop loop;
  private final Admission admission;
  private final ArrayDeque<Operation<?>> waiting = new ArrayDeque<>();

  OperationQueue(CompletionLoop loop, Admission admission) {
    this.loop = loop;
    this.admission = admission;
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Posts an operation, or lets it wait, or fails it if too many wait. */
  void start(Operation<?> operation) {
    if (waiting.isEmpty() && post(operation)) {
      return;
    }
    if (waiting.size() >= admission.most()) {
      operation.abort(admission.tooMany(operation.operation(), waiting.size()));
      return;
    }
    operation.since = loop.tick();
    waiting.add(operation);
    loop.pending(1);
  }

  private boolean post(Operation<?> operation) {
    try {
      return operation.post();
    } catch (VerbsException e) {
      operation.abort(
          new HcaException(
              operation.operation(), admission.peer(), null, "the HCA refused the request", e));
      return true;
    }
  }

  /** Posts those for which there are slots now. */
  void advance() {
    while (!waiting.isEmpty() && post(waiting.peek())) {
      waiting.remove();
      loop.pending(-1);
    }
  }

  /** Forgets an operation that was cancelled while it waited. */
  void remove(Operation<?> operation) {
    if (waiting.remove(operation)) {
      loop.pending(-1);
    }
  }

  /** Fails those that have waited for longer than so many ticks. */
  void expire(int ticks) {
    while (!waiting.isEmpty() && loop.tick() - waiting.peek().since > ticks) {
      Operation<?> operation = waiting.remove();
      loop.pending(-1);
      operation.abort(
          new RdmaTimeoutException(
              operation.operation(),
              admission.peer(),
              "it found no place in the send queue, or no credit, within operationTimeout"));
    }
  }

  /** Fails all. */
  void fail(OneSidedOperations.Failure failure) {
    while (!waiting.isEmpty()) {
      Operation<?> operation = waiting.remove();
      loop.pending(-1);
      operation.abort(failure.of(operation.operation()));
    }
  }
}
