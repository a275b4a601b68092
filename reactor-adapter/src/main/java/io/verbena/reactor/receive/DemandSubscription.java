// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.receive;

import io.verbena.core.loop.CompletionLoop;
import io.verbena.core.loop.ScheduledTask;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * The subscription to a {@link DemandQueue}. Its demand is the difference of two totals: any thread
 * raises the one, and only the loop counts up the other, so that a delivery costs no atomic
 * instruction.
 *
 * @param <T> the type of the values
 */
final class DemandSubscription<T> extends ScheduledTask implements Subscription {
  @SuppressWarnings("rawtypes")
  private static final AtomicLongFieldUpdater<DemandSubscription> REQUESTED =
      AtomicLongFieldUpdater.newUpdater(DemandSubscription.class, "requested");

  private final CoreSubscriber<? super T> actual;
  private final DemandQueue<T> source;
  private final CompletionLoop loop;
  private volatile long requested;
  private volatile boolean cancelled;
  private long delivered;
  private boolean attached;

  DemandSubscription(CoreSubscriber<? super T> actual, DemandQueue<T> source, CompletionLoop loop) {
    this.actual = actual;
    this.source = source;
    this.loop = loop;
  }

  /** Signals onSubscribe, and then attaches the subscriber to the source. */
  void start() {
    try {
      actual.onSubscribe(this);
    } catch (Throwable thrown) {
      cancel();
      throw thrown;
    }
    if (loop.inLoop()) {
      run();
    } else {
      loop.schedule(this);
    }
  }

  @Override
  public void run() {
    try {
      turn();
    } catch (Throwable thrown) {
      source.broke(thrown);
    }
  }

  private void turn() {
    if (!attached) {
      attached = true;
      if (!cancelled) {
        source.attach(this);
      }
    } else if (cancelled) {
      source.detach(this);
    } else {
      source.drain();
    }
  }

  /** Returns the unfulfilled demand. */
  long demand() {
    long total = requested;
    return cancelled ? 0 : total == Long.MAX_VALUE ? total : total - delivered;
  }

  void next(T item) {
    delivered++;
    if (!source.guard.emitNext(actual, item, source.operation)) {
      cancelled = true;
      source.detach(this);
    }
  }

  void complete() {
    if (!cancelled) {
      try {
        actual.onComplete();
      } catch (Throwable thrown) {
        source.broke(thrown);
      }
    }
  }

  void fail(Throwable error) {
    if (!cancelled) {
      try {
        actual.onError(error);
      } catch (Throwable thrown) {
        source.broke(thrown);
      }
    }
  }

  @Override
  public void request(long n) {
    if (Operators.validate(n)) {
      Operators.addCap(REQUESTED, this, n);
      wake();
    }
  }

  @Override
  public void cancel() {
    cancelled = true;
    wake();
  }

  private void wake() {
    if (!loop.inLoop()) {
      loop.schedule(this);
    } else if (attached) {
      run();
    }
  }
}
