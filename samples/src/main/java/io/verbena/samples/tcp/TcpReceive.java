// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.tcp;

import io.netty.buffer.ByteBuf;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Operators;

/**
 * One subscriber of a connection's messages, and its demand. State is confined to the event loop.
 */
final class TcpReceive implements Subscription {
  private final TcpConnection connection;
  private final CoreSubscriber<? super ByteBuf> subscriber;

  private long demand;
  private boolean ended;

  TcpReceive(TcpConnection connection, CoreSubscriber<? super ByteBuf> subscriber) {
    this.connection = connection;
    this.subscriber = subscriber;
  }

  @Override
  public void request(long n) {
    if (Operators.validate(n)) {
      connection.onLoop(
          () -> {
            demand = Operators.addCap(demand, n);
            connection.deliver();
          });
    }
  }

  @Override
  public void cancel() {
    connection.onLoop(
        () -> {
          ended = true;
          connection.cancelled(this);
        });
  }

  /** Messages requested and not yet delivered. */
  long demand() {
    return demand;
  }

  void next(ByteBuf message) {
    if (demand != Long.MAX_VALUE) {
      demand--;
    }
    subscriber.onNext(message);
  }

  void end(@Nullable Throwable failure) {
    if (ended) {
      return;
    }
    ended = true;
    if (failure == null) {
      subscriber.onComplete();
    } else {
      subscriber.onError(failure);
    }
  }
}
