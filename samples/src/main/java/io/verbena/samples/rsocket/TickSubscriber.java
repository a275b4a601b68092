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
 * Takes ticks a few at a time and rests after each few, or does not rest. It notes what was out of
 * order, and how far the sender got ahead of it. Asking and taking take turns, so its fields need
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
   * @param made how many ticks the sender has made
   * @param onTick is run for each
   */
  TickSubscriber(Duration rest, LongSupplier made, Runnable onTick) {
    this.rest = rest;
    this.made = made;
    this.onTick = onTick;
  }

  /** Completes when it has everything. */
  Mono<Void> finished() {
    return finished.asMono();
  }

  /** Ticks that came. */
  long taken() {
    return taken;
  }

  /** Ticks that were not the next one. */
  long wrong() {
    return wrong;
  }

  /** The most ticks that were made and had not come yet, seen at the end of a rest. */
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

  /** The lead only grows until the next request, so here is where it is at its most. */
  private void ask() {
    if (taken > 0) {
      lead = Math.max(lead, made.getAsLong() - taken);
    }
    request(FEW);
  }
}
