// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import io.netty.buffer.ByteBuf;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/** Publishes the length of each buffer and releases the buffer, which the TCK does not do. */
record Released(Publisher<ByteBuf> buffers) implements Publisher<Integer> {
  @Override
  public void subscribe(Subscriber<? super Integer> subscriber) {
    buffers.subscribe(subscriber == null ? null : new Releasing(subscriber));
  }

  private record Releasing(Subscriber<? super Integer> to) implements Subscriber<ByteBuf> {
    @Override
    public void onSubscribe(Subscription subscription) {
      to.onSubscribe(subscription);
    }

    @Override
    public void onNext(ByteBuf buffer) {
      int length = buffer.readableBytes();
      buffer.release();
      to.onNext(length);
    }

    @Override
    public void onError(Throwable error) {
      to.onError(error);
    }

    @Override
    public void onComplete() {
      to.onComplete();
    }
  }
}
