// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.util.ReferenceCountUtil;
import io.verbena.RdmaConnection;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RemoteMemory;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.RawPeer;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * Tests that subscribers, publishers and handlers that throw end only their own connection. All
 * connections share one loop.
 */
class ThrowingSubscriberTest {
  private static final Duration TICK = Duration.ofMillis(2);

  /** The kind of throwable that user code throws. */
  enum Kind {
    EXCEPTION,
    ASSERTION,
    LINKAGE,
    STACK,
    MEMORY;

    void doThrow() {
      switch (this) {
        case EXCEPTION -> throw new IllegalStateException("thrown by a test");
        case ASSERTION -> throw new AssertionError("thrown by a test");
        case LINKAGE -> throw new NoSuchMethodError("thrown by a test");
        case STACK -> throw new StackOverflowError("thrown by a test");
        case MEMORY -> throw new OutOfMemoryError("thrown by a test");
      }
    }
  }

  /** The callback that throws. */
  enum Callback {
    NEXT,
    ERROR,
    COMPLETE,
    REQUEST,
    CANCEL
  }

  /** The owner of the callback. */
  enum What {
    RECEIVE,
    READ,
    PIECES,
    WRITE,
    ATOMIC,
    IMMEDIATES,
    SEND,
    CLOSE,
    ON_CLOSE;

    Stream<Callback> callbacks() {
      return switch (this) {
        case RECEIVE, READ, PIECES, ATOMIC, IMMEDIATES ->
            Stream.of(Callback.NEXT, Callback.ERROR, Callback.COMPLETE);
        case WRITE, ON_CLOSE -> Stream.of(Callback.ERROR, Callback.COMPLETE);
        case SEND ->
            Stream.of(Callback.ERROR, Callback.COMPLETE, Callback.REQUEST, Callback.CANCEL);
        case CLOSE -> Stream.of(Callback.COMPLETE);
      };
    }

    boolean isOneSided() {
      return this == READ || this == PIECES || this == WRITE || this == ATOMIC;
    }
  }

  static Stream<Arguments> all() {
    return Stream.of(What.values())
        .flatMap(
            what ->
                what.callbacks()
                    .flatMap(
                        callback ->
                            Stream.of(Kind.values())
                                .map(kind -> Arguments.of(what, callback, kind))));
  }

  private final ByteBuffer memory = ByteBuffer.allocateDirect(4096);
  private final AtomicBoolean thrown = new AtomicBoolean();
  private final Set<Kind> kindsThrown = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean requested = new AtomicBoolean();
  private Ends ends;
  private Ends.Pair innocent;
  private Ends.Pair guilty;
  private RdmaMemory.Region region;
  private RemoteMemory token;
  private RdmaMemory.@Nullable Region written;

  @BeforeEach
  void connect() {
    Hooks.onErrorDropped(error -> {});
    ends = Ends.create(Ends.options().loops(1));
    innocent = ends.connect();
    guilty = ends.connect();
    region =
        guilty
            .server()
            .memory()
            .register(
                memory,
                Set.of(
                    RemoteMemory.Right.READ, RemoteMemory.Right.WRITE, RemoteMemory.Right.ATOMIC));
    token = region.token();
  }

  @AfterEach
  void close() {
    region.close();
    if (written != null) {
      written.close();
    }
    ends.close();
    Hooks.resetOnErrorDropped();
  }

  @ParameterizedTest
  @MethodSource("all")
  void harmsItsOwnConnectionOnly(What what, Callback callback, Kind kind) {
    RdmaConnection client = guilty.client();
    AtomicBoolean closeEnded = new AtomicBoolean();
    AtomicBoolean otherEnded = new AtomicBoolean();

    if (callback == Callback.ERROR && what.isOneSided()) {
      client.dispose();
    }
    begin(what, callback, kind);
    client.onClose().onErrorComplete().subscribe(null, null, () -> otherEnded.set(true));
    if (callback == Callback.CANCEL) {
      eventually(requested);
    }
    end(what, callback);
    client.close().onErrorComplete().subscribe(null, null, () -> closeEnded.set(true));
    client.dispose();

    eventually(thrown);
    eventually(otherEnded);
    eventually(closeEnded);
    assertServes(innocent);
    assertServes(ends.connect());
  }

  private void begin(What what, Callback callback, Kind kind) {
    RdmaConnection client = guilty.client();
    switch (what) {
      case RECEIVE -> client.receive().subscribe(new Throwing<>(callback, kind));
      case READ -> client.read(token).subscribe(new Throwing<>(callback, kind));
      case PIECES -> client.readPieces(token, 1024).subscribe(new Throwing<>(callback, kind));
      case WRITE ->
          client
              .write(Ends.message(client, 8, 1), token.slice(0, 8))
              .subscribe(new Throwing<>(callback, kind));
      case ATOMIC ->
          client.fetchAndAdd(token.slice(0, 8), 1).subscribe(new Throwing<>(callback, kind));
      case IMMEDIATES -> client.immediates().subscribe(new Throwing<>(callback, kind));
      case SEND ->
          client
              .send(callback == Callback.COMPLETE ? oneMessage(client) : silent(callback, kind))
              .subscribe(new Throwing<>(callback, kind));
      case CLOSE -> client.close().subscribe(new Throwing<>(callback, kind));
      case ON_CLOSE -> client.onClose().subscribe(new Throwing<>(callback, kind));
    }
    if (callback == Callback.NEXT && what == What.RECEIVE) {
      guilty.server().send(oneMessage(guilty.server())).onErrorComplete().subscribe();
    }
    if (callback == Callback.NEXT && what == What.IMMEDIATES) {
      written = client.memory().register(memory, Set.of(RemoteMemory.Right.WRITE));
      guilty
          .server()
          .writeWithImmediate(Ends.message(guilty.server(), 8, 1), written.token().slice(0, 8), 7)
          .onErrorComplete()
          .subscribe();
    }
  }

  /** Ends the connection in a way that calls the callback, unless it is called anyway. */
  private void end(What what, Callback callback) {
    if (callback == Callback.ERROR || callback == Callback.CANCEL) {
      guilty.server().dispose();
    } else if (callback == Callback.COMPLETE && !what.isOneSided() && what != What.SEND) {
      guilty.server().close().onErrorComplete().subscribe();
      guilty.client().close().onErrorComplete().subscribe();
    }
    eventually(thrown);
  }

  private static Publisher<ByteBuf> oneMessage(RdmaConnection from) {
    return Mono.fromSupplier(() -> Ends.message(from, 8, 1));
  }

  /** Returns a publisher that publishes nothing, and may throw when requested or cancelled. */
  private Publisher<ByteBuf> silent(Callback callback, Kind kind) {
    return subscriber ->
        subscriber.onSubscribe(
            new Subscription() {
              @Override
              public void request(long n) {
                requested.set(true);
                throwAt(Callback.REQUEST, callback, kind);
              }

              @Override
              public void cancel() {
                throwAt(Callback.CANCEL, callback, kind);
              }
            });
  }

  private void throwAt(Callback here, Callback callback, Kind kind) {
    if (here == callback) {
      thrown.set(true);
      kindsThrown.add(kind);
      kind.doThrow();
    }
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void failsTheConnectionOfAHandlerThatThrows(Kind kind) {
    Function<RdmaConnection, Publisher<Void>> handler =
        connection -> {
          kind.doThrow();
          return Mono.never();
        };
    RdmaServer server =
        ends.serverSide().bind(Addresses.of("throwing-" + kind), handler).block(Ends.LIMIT);

    RdmaConnection client =
        ends.clientSide().connect(Addresses.reach(server.address())).block(Ends.LIMIT);

    assertThat(client.onClose().onErrorComplete().thenReturn(true).block(Ends.LIMIT)).isTrue();
    assertServes(innocent);
    assertServes(ends.connect());
  }

  @Test
  void harmsNobodyWhenItsConnectTimesOut() {
    // The other connects have to succeed within this time.
    RdmaOptions.Builder impatient =
        Ends.options().loops(1).connectTimeout(Addresses.within(Duration.ofSeconds(3)));
    try (RawPeer silent = RawPeer.listening();
        Ends own = Ends.create(impatient)) {
      Ends.Pair pair = own.connect();

      for (Kind kind : Kind.values()) {
        own.clientSide().connect(silent.address()).subscribe(new Throwing<>(Callback.ERROR, kind));
      }
      await().atMost(Ends.LIMIT).until(() -> kindsThrown.size() == Kind.values().length);

      assertServes(pair);
      assertServes(own.connect());
    }
  }

  @Test
  void failsTheConnectionOfAHandlerInItsLoopWhereverTheHandlerFails() throws Exception {
    Sinks.Empty<Void> handlerEnd = Sinks.empty();
    CompletableFuture<RdmaConnection> accepted = new CompletableFuture<>();
    RdmaServer server =
        ends.serverSide()
            .bind(
                Addresses.of("fails-elsewhere"),
                connection -> {
                  accepted.complete(connection);
                  return handlerEnd.asMono();
                })
            .block(Ends.LIMIT);
    RdmaConnection client =
        ends.clientSide().connect(Addresses.reach(server.address())).block(Ends.LIMIT);
    RdmaConnection connection = accepted.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
    written = client.memory().register(memory, Set.of(RemoteMemory.Right.WRITE));
    CompletableFuture<Thread> told = new CompletableFuture<>();
    // No subscriber takes the immediates, so the last one waits for a credit.
    for (int i = 0; i <= ends.serverSide().options().window(); i++) {
      connection
          .writeWithImmediate(Ends.message(connection, 8, 1), written.token().slice(0, 8), i)
          .doOnError(error -> told.complete(Thread.currentThread()))
          .onErrorComplete()
          .subscribe();
    }
    connection
        .send(oneMessage(connection))
        .then(Mono.fromRunnable(() -> requested.set(true)))
        .subscribe();
    eventually(requested);

    handlerEnd.tryEmitError(new IllegalStateException("thrown by a test"));

    assertThat(told.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS))
        .isNotSameAs(Thread.currentThread());
    assertServes(innocent);
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void letsATransportBeDisposedThoughItThrowsAtTheEndOfAServer(Kind kind) {
    Ends own = Ends.create();
    own.server().onClose().subscribe(new Throwing<>(Callback.COMPLETE, kind));

    own.close();

    assertThat(thrown).isTrue();
  }

  @Test
  void tellsAllWhereSeveralThrow() {
    RdmaConnection client = guilty.client();
    AtomicBoolean received = new AtomicBoolean();
    AtomicBoolean ended = new AtomicBoolean();
    for (Kind kind : Kind.values()) {
      client.onClose().subscribe(new Throwing<>(Callback.COMPLETE, kind));
      client.close().subscribe(new Throwing<>(Callback.ERROR, kind));
      client.send(silent(Callback.CANCEL, kind)).subscribe(new Throwing<>(Callback.ERROR, kind));
    }
    client.receive().doOnTerminate(() -> received.set(true)).onErrorComplete().subscribe();
    client.onClose().onErrorComplete().subscribe(null, null, () -> ended.set(true));

    client.dispose();

    eventually(received);
    eventually(ended);
    assertServes(innocent);
  }

  private static void eventually(AtomicBoolean happened) {
    await().atMost(Ends.LIMIT).pollDelay(Duration.ZERO).pollInterval(TICK).untilTrue(happened);
  }

  private static void assertServes(Ends.Pair pair) {
    byte[] bytes = Ends.bytes(100, 3);
    pair.client()
        .send(Flux.just(Ends.message(pair.client(), bytes.length, 3)))
        .onErrorComplete()
        .subscribe();
    assertThat(pair.server().receive().next().map(Ends::take).block(Ends.LIMIT)).isEqualTo(bytes);
  }

  /** Requests everything, and throws in one callback. */
  private final class Throwing<T> implements CoreSubscriber<T> {
    private final Callback callback;
    private final Kind kind;

    Throwing(Callback callback, Kind kind) {
      this.callback = callback;
      this.kind = kind;
    }

    @Override
    public void onSubscribe(Subscription subscription) {
      subscription.request(Long.MAX_VALUE);
    }

    @Override
    public void onNext(T item) {
      ReferenceCountUtil.release(item);
      throwAt(Callback.NEXT, callback, kind);
    }

    @Override
    public void onError(Throwable error) {
      throwAt(Callback.ERROR, callback, kind);
    }

    @Override
    public void onComplete() {
      throwAt(Callback.COMPLETE, callback, kind);
    }
  }
}
