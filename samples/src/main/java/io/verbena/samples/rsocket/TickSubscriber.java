// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.rsocket;

import io.rsocket.Payload;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Requests a few ticks at a time, with or without a rest in between. It records ticks out of order,
 * and how far the sender got ahead of it. Requesting and receiving take turns, so its fields need
 * no lock.
 */
final class TickSubscriber extends BaseSubscriber<Payload> {
  /** Ticks that it takes between two rests. */
  static final int FEW = 16;

  private final Duration rest;
  private final LongSupplier made;
  private final Runnable onTick;
  private final Scheduler timer = Schedulers.parallel();
  private final Sinks.Empty<Void> finished = Sinks.empty();
  private long taken;
  private long wrong;
  private long lead;

  /**
   * @param rest how long it rests
   * @param made returns the number of ticks that the sender has made
   * @param onTick runs for each tick
   */
  TickSubscriber(Duration rest, LongSupplier made, Runnable onTick) {
    this.rest = rest;
    this.made = made;
    this.onTick = onTick;
  }

  /** Completes when it has all ticks. */
  Mono<Void> finished() {
    return finished.asMono();
  }

  /** Received ticks. */
  long taken() {
    return taken;
  }

  /** Ticks that came out of order. */
  long wrong() {
    return wrong;
  }

  /** The most ticks that were made and not yet received, at the end of a rest. */
  long lead() {
    return lead;
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    ask();
  }

  @Override
  protected void hookOnNext(Payload tick) {
    if (Ticks.number(tick) != taken) {
      wrong++;
    }
    taken++;
    onTick.run();
    if (taken % FEW == 0) {
      if (rest.isZero()) {
        ask();
      } else {
        timer.schedule(this::ask, rest.toNanos(), TimeUnit.NANOSECONDS);
      }
    }
  }

  @Override
  protected void hookOnComplete() {
    finished.tryEmitEmpty();
  }

  @Override
  protected void hookOnError(Throwable failure) {
    finished.tryEmitError(failure);
  }

  /** Requests more. Records the lead first, as it is greatest before a request. */
  private void ask() {
    if (taken > 0) {
      lead = Math.max(lead, made.getAsLong() - taken);
    }
    request(FEW);
  }
}
