// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.guard;

import io.verbena.ConnectionClosedException;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * Runs code that may throw on behalf of one connection. What subscribers, publishers, buffers or
 * the transport itself throw, errors of the JVM included, ends this connection and no other. Only
 * on the loop, except for static methods.
 */
public final class FailureGuard {

  /** Ends a connection. */
  @FunctionalInterface
  public interface Handler {

    /** Ends the connection for what was thrown, or drops the error if it has ended. */
    void broke(Throwable thrown);
  }

  private final Handler handler;
  private final String peer;

  /**
   * Creates the guard of the connection that {@code handler} ends.
   *
   * @param peer human-readable peer address, for errors
   */
  public FailureGuard(Handler handler, String peer) {
    this.handler = handler;
    this.peer = peer;
  }

  /** Ends the connection for what was thrown. */
  public void broke(Throwable thrown) {
    handler.broke(thrown);
  }

  /**
   * Runs a step; what it throws ends the connection, and does not keep the caller from further
   * steps.
   */
  public void guarded(Runnable step) {
    try {
      step.run();
    } catch (Throwable thrown) {
      handler.broke(thrown);
    }
  }

  /**
   * Signals an item to a subscriber. If that throws, the connection ends and the subscriber gets an
   * error: an operator lets errors of the JVM through, and its own subscriber still waits for an
   * end.
   *
   * @return whether the item was taken
   */
  public <T> boolean emitNext(CoreSubscriber<? super T> subscriber, T item, String operation) {
    try {
      subscriber.onNext(item);
      return true;
    } catch (Throwable thrown) {
      handler.broke(thrown);
      emitError(
          subscriber,
          new ConnectionClosedException(
              operation, peer, null, "its subscriber threw " + thrown, thrown));
      return false;
    }
  }

  /** Signals an error to a subscriber. */
  public void emitError(CoreSubscriber<?> subscriber, Throwable why) {
    try {
      subscriber.onError(why);
    } catch (Throwable thrown) {
      handler.broke(thrown);
    }
  }

  /** Signals completion to a subscriber. */
  public void emitComplete(CoreSubscriber<?> subscriber) {
    try {
      subscriber.onComplete();
    } catch (Throwable thrown) {
      handler.broke(thrown);
    }
  }

  /**
   * Returns the Mono of an end with several subscribers, each of which is signalled, even if
   * another one throws.
   */
  public static Mono<Void> guarded(Mono<Void> end) {
    return end.transform(
        Operators.<Void, Void>lift((of, subscriber) -> new GuardedSubscriber(subscriber)));
  }

  /**
   * Passes an error for which no subscriber is left to Reactor's hook for dropped errors. Does not
   * throw, even if the hook does.
   */
  public static void drop(Throwable error) {
    try {
      Operators.onErrorDropped(error, Context.empty());
    } catch (Throwable thrown) {
      report(thrown);
    }
  }

  private static void report(Throwable thrown) {
    Thread current = Thread.currentThread();
    try {
      current.getUncaughtExceptionHandler().uncaughtException(current, thrown);
    } catch (Throwable ofTheHandler) {
      // Ignored, as the JVM does with what a handler of uncaught exceptions throws.
    }
  }
}
