package io.verbena.reactor.connection;

import io.verbena.HcaException;
import io.verbena.RdmaException;
import io.verbena.RdmaTimeoutException;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;

/** Operations that wait for a slot, first come, first served. */
final class OperationQueue {
  private final Connection connection;
  private final int most;
  private final ArrayDeque<Operation<?>> waiting = new ArrayDeque<>();

  OperationQueue(Connection connection, int most) {
    this.connection = connection;
    this.most = most;
  }

  int size() {
    return waiting.size();
  }

  boolean isEmpty() {
    return waiting.isEmpty();
  }

  /** Posts an operation, or lets it wait, or fails it if too many wait. */
  void start(Operation<?> operation) {
    if (waiting.isEmpty() && post(operation)) {
      return;
    }
    if (waiting.size() >= most) {
      operation.abort(connection.tooMany(operation.operation(), waiting.size()));
      return;
    }
    operation.since = connection.loop().tick();
    waiting.add(operation);
    connection.loop().pending(1);
  }

  private boolean post(Operation<?> operation) {
    try {
      return operation.post();
    } catch (VerbsException e) {
      operation.abort(
          new HcaException(
              operation.operation(), connection.peer(), null, "the HCA refused the request", e));
      return true;
    }
  }

  /** Posts those for which there are slots now. */
  void advance() {
    while (!waiting.isEmpty() && post(waiting.peek())) {
      waiting.remove();
      connection.loop().pending(-1);
    }
  }

  /** Forgets an operation that was cancelled while it waited. */
  void remove(Operation<?> operation) {
    if (waiting.remove(operation)) {
      connection.loop().pending(-1);
    }
  }

  /** Fails those that have waited for longer than so many ticks. */
  void expire(int ticks) {
    while (!waiting.isEmpty() && connection.loop().tick() - waiting.peek().since > ticks) {
      Operation<?> operation = waiting.remove();
      connection.loop().pending(-1);
      operation.abort(
          new RdmaTimeoutException(
              operation.operation(),
              connection.peer(),
              "it found no place in the send queue, or no credit, within operationTimeout"));
    }
  }

  /** Fails all. */
  void fail(Failure failure) {
    while (!waiting.isEmpty()) {
      Operation<?> operation = waiting.remove();
      connection.loop().pending(-1);
      operation.abort(failure.of(operation.operation()));
    }
  }

  /** Makes the exception for an operation of this name. */
  interface Failure {
    RdmaException of(String operation);
  }
}
