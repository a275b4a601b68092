// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaConnection;
import io.verbena.reactor.testing.Ends;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import org.reactivestreams.tck.SubscriberBlackboxVerification;

/** Tests the subscriber of {@link RdmaConnection#send}; the peer takes all messages. */
public final class SendVerification extends SubscriberBlackboxVerification<ByteBuf>
    implements Verification {
  private final Ends ends = Ends.create();

  SendVerification() {
    super(Tck.environment());
  }

  @Override
  public void begin() throws Exception {
    startPublisherExecutorService();
    setUp();
  }

  @Override
  public void end() {
    shutdownPublisherExecutorService();
    ends.close();
  }

  @Override
  public Subscriber<ByteBuf> createSubscriber() {
    Ends.Pair pair = ends.connect();
    pair.server().receive().onErrorComplete().subscribe(ByteBuf::release);
    CompletableFuture<Subscriber<? super ByteBuf>> subscriber = new CompletableFuture<>();
    pair.client().send(subscriber::complete).onErrorComplete().subscribe();
    Subscriber<? super ByteBuf> own =
        subscriber.orTimeout(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS).join();
    return new Narrow(own);
  }

  @Override
  public ByteBuf createElement(int element) {
    return Unpooled.directBuffer(Integer.BYTES).writeInt(element);
  }

  /** The same subscriber, with the type that the TCK expects. */
  private record Narrow(Subscriber<? super ByteBuf> own) implements Subscriber<ByteBuf> {
    @Override
    public void onSubscribe(Subscription subscription) {
      own.onSubscribe(subscription);
    }

    @Override
    public void onNext(ByteBuf buffer) {
      own.onNext(buffer);
    }

    @Override
    public void onError(Throwable error) {
      own.onError(error);
    }

    @Override
    public void onComplete() {
      own.onComplete();
    }
  }
}
