// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.netty.buffer.ByteBuf;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Operators;
import reactor.util.context.Context;

/**
 * The peer's frames as RSocket expects them: a frame is released when {@code onNext} returns, the
 * frames always end with an error, and there is one subscriber.
 */
final class ReceivedFrames extends Flux<ByteBuf> {
  private final FrameConnection connection;
  private final Flux<ByteBuf> messages;
  private final AtomicBoolean subscribed = new AtomicBoolean();

  ReceivedFrames(FrameConnection connection, Flux<ByteBuf> messages) {
    this.connection = connection;
    this.messages = messages;
  }

  @Override
  public void subscribe(CoreSubscriber<? super ByteBuf> actual) {
    if (subscribed.compareAndSet(false, true)) {
      messages.subscribe(new Delivery(connection, actual));
    } else {
      Operators.error(actual, new IllegalStateException("receive: a second subscriber"));
    }
  }

  /**
   * Hands frames to the subscriber. After it has cancelled, further frames are received and
   * released, so that a close by the peer is noticed.
   */
  private static final class Delivery implements CoreSubscriber<ByteBuf>, Subscription {
    private final FrameConnection connection;
    private final CoreSubscriber<? super ByteBuf> actual;
    private @Nullable Subscription upstream;
    private volatile boolean cancelled;

    Delivery(FrameConnection connection, CoreSubscriber<? super ByteBuf> actual) {
      this.connection = connection;
      this.actual = actual;
    }

    @Override
    public Context currentContext() {
      return actual.currentContext();
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      if (Operators.validate(upstream, subscription)) {
        upstream = subscription;
        actual.onSubscribe(this);
      }
    }

    @Override
    public void request(long n) {
      Subscription subscription = upstream;
      if (subscription != null) {
        subscription.request(n);
      }
    }

    @Override
    public void cancel() {
      cancelled = true;
      request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(ByteBuf frame) {
      try {
        if (!cancelled && !connection.isLeaving()) {
          actual.onNext(frame);
        }
      } finally {
        frame.release();
      }
    }

    @Override
    public void onComplete() {
      connection.peerLeft();
      end(new ClosedChannelException());
    }

    @Override
    public void onError(Throwable error) {
      end(connection.reason(error));
    }

    private void end(Throwable reason) {
      if (!cancelled) {
        actual.onError(reason);
      }
    }
  }
}
