// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.verbena.ConnectionClosedException;
import io.verbena.RdmaConnection;
import io.verbena.reactor.lifecycle.ThrowingSubscriberTest.Kind;
import io.verbena.reactor.testing.Ends;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** Tests throwing publishers whose send shares the credits with another send. */
class ThrowingPublisherTest {
  private final Ends ends = Ends.create(Ends.options().loops(1));
  private final RdmaConnection client = ends.connect().client();

  @AfterEach
  void close() {
    ends.close();
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void failsItsSendAloneIfItThrowsInSubscribe(Kind kind) {
    Publisher<ByteBuf> throwing = subscriber -> kind.doThrow();
    Ending ending = new Ending();

    // Subscribes on the loop, where the throwable would come out of subscribe.
    client
        .send(Mono.fromSupplier(() -> Ends.message(client, 8, 1)))
        .doOnSuccess(nothing -> client.send(throwing).subscribe(ending))
        .onErrorComplete()
        .subscribe();
    await().atMost(Ends.LIMIT).until(() -> ending.told.get() > 0);

    // This takes the whole timeout, and fails, if the close still waits for a send.
    client.close().block(Ends.LIMIT);
    assertThat(ending.told).hasValue(1);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void doesNotKeepASendFromItsEndIfItThrowsInRequest(Kind kind) {
    Sinks.Empty<ByteBuf> messages = Sinks.empty();
    CompletableFuture<Void> done = client.send(messages.asMono()).toFuture();
    AtomicInteger requests = new AtomicInteger();
    // The other send has all credits: this one gets one now, and the rest when the other ends.
    client
        .send(
            supplying(
                () -> {
                  if (requests.incrementAndGet() > 1) {
                    kind.doThrow();
                  }
                },
                () -> {}))
        .onErrorComplete()
        .subscribe();
    await().atMost(Ends.LIMIT).until(() -> requests.get() == 1);

    messages.tryEmitEmpty();

    assertThat(done).succeedsWithin(Ends.LIMIT);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void endsTheConnectionIfItThrowsInCancel(Kind kind) {
    AtomicInteger requests = new AtomicInteger();
    Ending ending = new Ending();
    client.send(supplying(requests::incrementAndGet, kind::doThrow)).subscribe(ending);
    await().atMost(Ends.LIMIT).until(() -> requests.get() > 0);

    assertThatThrownBy(ending.subscription.get()::cancel).hasMessage("thrown by a test");

    assertThatThrownBy(() -> client.onClose().block(Ends.LIMIT))
        .isInstanceOf(ConnectionClosedException.class)
        .hasMessageContaining("thrown by a test");
  }

  /** Returns a publisher that publishes nothing and runs the given callbacks. */
  private static Publisher<ByteBuf> supplying(Runnable request, Runnable cancel) {
    return subscriber ->
        subscriber.onSubscribe(
            new Subscription() {
              @Override
              public void request(long n) {
                request.run();
              }

              @Override
              public void cancel() {
                cancel.run();
              }
            });
  }

  /** Counts the terminal signals of its send. */
  private static final class Ending implements CoreSubscriber<Void> {
    private final AtomicReference<Subscription> subscription = new AtomicReference<>();
    private final AtomicInteger told = new AtomicInteger();

    @Override
    public void onSubscribe(Subscription newSubscription) {
      subscription.compareAndSet(null, newSubscription);
      newSubscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(Void nothing) {
      throw new AssertionError("a send has no items");
    }

    @Override
    public void onError(Throwable error) {
      told.incrementAndGet();
    }

    @Override
    public void onComplete() {
      told.incrementAndGet();
    }
  }
}
