// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.verbena.samples.report.Progress;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.reactivestreams.Subscription;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/**
 * Requests few messages at a time and rests in between; after some messages it stops requesting,
 * until {@link #resume} is called. It records how far the sender got ahead of its demand.
 * Requesting and receiving take turns, so its fields need no lock.
 */
final class SlowSubscriber extends BaseSubscriber<ByteBuf> {
  /** Messages that it requests at a time. */
  static final int BATCH = 8;

  private static final long REST_MILLIS = 2;

  private final BlockStream stream;
  private final ByteBuf into;
  private final int stallAt;
  private final IntSupplier sent;
  private final Progress.Step step;
  private final Scheduler timer = Schedulers.parallel();
  private final Sinks.Empty<Void> stalled = Sinks.empty();
  private final Sinks.Empty<Void> finished = Sinks.empty();

  private int asked;
  private int taken;
  private int lead;
  private boolean resumed;

  /**
   * @param into gets the messages; the caller owns it
   * @param stallAt the number of messages after which it stops requesting
   * @param sent messages that the sender has given to the transport, or negative when it has ended
   */
  SlowSubscriber(
      BlockStream stream, ByteBuf into, int stallAt, IntSupplier sent, Progress.Step step) {
    this.stream = stream;
    this.into = into;
    this.stallAt = stallAt;
    this.sent = sent;
    this.step = step;
  }

  /** Completes when it has stopped requesting. */
  Mono<Void> stalled() {
    return stalled.asMono();
  }

  /** Completes when it has all messages. */
  Mono<Void> finished() {
    return finished.asMono();
  }

  /** Continues, once it has {@link #stalled}. */
  void resume() {
    resumed = true;
    timer.schedule(this::ask);
  }

  /** The most messages that the sender was ahead of the demand, once it has {@link #finished}. */
  int lead() {
    return lead;
  }

  @Override
  protected void hookOnSubscribe(Subscription subscription) {
    timer.schedule(this::ask);
  }

  @Override
  protected void hookOnNext(ByteBuf message) {
    BlockStream.append(message, into);
    step.advance(1);
    taken++;
    if (taken == asked && taken < stream.messages()) {
      timer.schedule(this::ask, REST_MILLIS, TimeUnit.MILLISECONDS);
    }
  }

  @Override
  protected void hookOnComplete() {
    stalled.tryEmitEmpty();
    finished.tryEmitEmpty();
  }

  @Override
  protected void hookOnError(Throwable failure) {
    stalled.tryEmitError(failure);
    finished.tryEmitError(failure);
  }

  /** Requests more. Records the lead first, as it is greatest before a request. */
  private void ask() {
    if (taken >= stallAt && !resumed) {
      stalled.tryEmitEmpty();
      return;
    }
    lead = Math.max(lead, sent.getAsInt() - asked);
    int batch = Math.min(BATCH, stream.messages() - asked);
    asked += batch;
    if (batch > 0) {
      request(batch);
    }
  }
}
