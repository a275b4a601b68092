// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.DutyCycleEnd;
import io.verbena.reactor.guard.FailureGuard;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;

/**
 * A queue of what came from the peer, kept until a subscriber asks for it; one subscriber at a
 * time. Once the queue is ended and empty, its subscriber completes or fails. Only on the loop.
 *
 * @param <T> what it holds
 */
abstract class DemandQueue<T> {
  final String operation;
  final DutyCycleEnd turn;
  final FailureGuard guard;

  /** The subscriber, or null. */
  @Nullable DemandSubscription<T> subscriber;

  /** Whether a subscriber is being called: what comes meanwhile waits. */
  boolean delivering;

  private boolean ended;
  private @Nullable Throwable error;

  /**
   * @param operation how users get its flux, for errors
   */
  DemandQueue(String operation, DutyCycleEnd turn, FailureGuard guard) {
    this.operation = operation;
    this.turn = turn;
    this.guard = guard;
  }

  /**
   * Returns the values that come, for one subscriber at a time; its signals come from this loop.
   */
  public Flux<T> flux(CompletionLoop loop) {
    return new DemandFlux<>(this, loop);
  }

  /** Delivers as much as the subscriber asks for. */
  abstract void drain();

  /** Returns whether nothing is left that a subscriber could get. */
  public abstract boolean isEmpty();

  /** A new subscriber. */
  void attach(DemandSubscription<T> subscription) {
    if (subscriber != null) {
      subscription.fail(
          new IllegalStateException(operation + ": it has a subscriber (expected: one at a time)"));
      return;
    }
    subscriber = subscription;
    drain();
  }

  /** The subscriber cancelled. */
  void detach(DemandSubscription<T> subscription) {
    if (subscriber == subscription) {
      subscriber = null;
      turn.ask();
    }
  }

  /** The subscriber threw this. */
  void broke(Throwable thrown) {
    guard.broke(thrown);
  }

  /** No more comes: the subscriber ends, with this error or null, when it has all. */
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
