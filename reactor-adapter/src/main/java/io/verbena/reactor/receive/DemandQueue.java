// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.reactor.guard.FailureGuard;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * A queue of values from the peer, kept until a subscriber requests them; one subscriber at a time.
 * Once the queue is ended and empty, its subscriber completes or fails. Only on the loop.
 *
 * @param <T> the type of the values
 */
abstract class DemandQueue<T> {
  final String operation;
  final DutyCycleEnd turn;
  final FailureGuard guard;

  /** The subscriber, or null. */
  @Nullable DemandSubscription<T> subscriber;

  /** Whether a subscriber is being called: values that arrive meanwhile wait. */
  boolean delivering;

  private boolean ended;
  private @Nullable Throwable error;

  /**
   * @param operation the name of the method that returns its flux, for errors
   */
  DemandQueue(String operation, DutyCycleEnd turn, FailureGuard guard) {
    this.operation = operation;
    this.turn = turn;
    this.guard = guard;
  }

  /** Returns the values, for one subscriber at a time, which is signalled on {@code loop}. */
  public Flux<T> flux(CompletionLoop loop) {
    return new DemandFlux<>(this, loop);
  }

  /** Delivers as many values as the subscriber has requested. */
  abstract void drain();

  /** Returns whether no value is left for a subscriber. */
  public abstract boolean isEmpty();

  /** Takes a new subscriber; fails it if there is one already. */
  void attach(DemandSubscription<T> subscription) {
    if (subscriber != null) {
      subscription.fail(
          new IllegalStateException(operation + ": it has a subscriber (expected: one at a time)"));
      return;
    }
    subscriber = subscription;
    drain();
  }

  /** Removes a subscriber that has cancelled. */
  void detach(DemandSubscription<T> subscription) {
    if (subscriber == subscription) {
      subscriber = null;
      turn.ask();
    }
  }

  /** Ends the connection for what the subscriber threw. */
  void broke(Throwable thrown) {
    guard.broke(thrown);
  }

  /**
   * Ends the queue: after the last value its subscriber fails with {@code why}, or completes if
   * that is null.
   */
  public void end(@Nullable Throwable why) {
    if (!ended) {
      ended = true;
      error = why;
    }
    endIfDelivered();
  }

  void endIfDelivered() {
    DemandSubscription<T> to = subscriber;
    if (!ended || delivering || !isEmpty() || to == null) {
      return;
    }
    subscriber = null;
    Throwable why = error;
    if (why == null) {
      to.complete();
    } else {
      to.fail(why);
    }
  }
}
