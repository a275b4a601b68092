// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.verbena.AcceptDecision;
import io.verbena.AcceptHook;
import io.verbena.ConnectRequest;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.RejectReason;
import io.verbena.core.testing.Addresses;
import io.verbena.emulated.DeviceFault;
import io.verbena.reactor.testing.Ends;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;

/** Tests accept hooks. A client that sends the byte 1 as private data is always accepted. */
class AcceptHookTest {
  private static final byte INNOCENT = 1;
  private static final byte VICTIM = 2;
  private static final AtomicInteger NAMES = new AtomicInteger();

  private final RdmaTransport clients = RdmaTransport.create(Ends.options().build());
  private RdmaTransport servers = RdmaTransport.create(Ends.options().build());
  private RdmaServer server;

  @AfterEach
  void dispose() {
    clients.dispose();
    servers.dispose();
  }

  /** Sets how long the hooks of servers that are bound from now on may take. */
  private void hurry(Duration timeout) {
    // This transport has opened no device yet.
    servers.dispose();
    servers = RdmaTransport.create(Ends.options().connectTimeout(timeout).build());
  }

  private void bind(AcceptHook hook) {
    server =
        servers
            .bind(Addresses.of("asked-" + NAMES.incrementAndGet()), hook, c -> c.onClose())
            .block(Ends.LIMIT);
  }

  /** Binds a server that accepts innocent clients, and asks the hook about the others. */
  private void bindForVictims(AcceptHook hook) {
    bind(
        request ->
            request.privateData().get() == INNOCENT
                ? Mono.just(AcceptDecision.accept())
                : hook.decide(request));
  }

  private RdmaConnection connect(byte... data) {
    return clients
        .connect(Addresses.reach(server.address()), ByteBuffer.wrap(data))
        .block(Ends.LIMIT);
  }

  private RdmaConnectException refused(byte... data) {
    return catchThrowableOfType(RdmaConnectException.class, () -> connect(data));
  }

  @Test
  void theHookSeesWhatTheClientSendsAndWhereItIs() {
    AtomicReference<ConnectRequest> seen = new AtomicReference<>();
    bind(
        request -> {
          seen.set(request);
          return Mono.just(AcceptDecision.accept());
        });
    byte[] most = Ends.bytes(ConnectRequest.MAX_PRIVATE_DATA, 1);

    RdmaConnection client = connect(most);

    assertThat(client.isDisposed()).isFalse();
    assertThat(seen.get().privateData()).isEqualTo(ByteBuffer.wrap(most));
    assertThat(seen.get().peer()).isNotEmpty();
    assertThat(seen.get().address() == null).isEqualTo(Addresses.areEmulated());
  }

  @Test
  void aClientWithoutDataIsSeenWithNone() {
    AtomicReference<ConnectRequest> seen = new AtomicReference<>();
    bind(
        request -> {
          seen.set(request);
          return Mono.just(AcceptDecision.accept());
        });

    clients.connect(Addresses.reach(server.address())).block(Ends.LIMIT);

    assertThat(seen.get().privateData().remaining()).isZero();
  }

  @Test
  void theClientSeesCodeAndTextOfARejection() {
    bind(request -> Mono.just(AcceptDecision.reject(4711, "not before noon")));

    RdmaConnectException refusal = refused();

    assertThat(refusal.rejection()).isEqualTo(new RejectReason(4711, "not before noon"));
    assertThat(refusal).hasMessageContaining("the server rejected it: not before noon");
    assertThat(server.connectionCount()).isZero();
  }

  @Test
  void refusesMoreDataThanFits() {
    bind(request -> Mono.just(AcceptDecision.accept()));

    assertThatThrownBy(() -> connect(new byte[ConnectRequest.MAX_PRIVATE_DATA + 1]))
        .isInstanceOf(RdmaConnectException.class)
        .hasMessageContaining("private data: 25 bytes (expected: <= 24)");
  }

  @Test
  void theAnswerMayComeLater() {
    Sinks.One<AcceptDecision> answer = Sinks.one();
    bindForVictims(request -> answer.asMono());
    Mono<RdmaConnection> late =
        clients.connect(Addresses.reach(server.address()), ByteBuffer.wrap(new byte[] {VICTIM}));
    AtomicReference<RdmaConnection> connected = new AtomicReference<>();
    late.subscribe(connected::set);

    connect(INNOCENT);
    await().atMost(Ends.LIMIT).until(() -> answer.currentSubscriberCount() == 1);
    assertThat(connected.get()).isNull();
    answer.tryEmitValue(AcceptDecision.accept());

    await().atMost(Ends.LIMIT).until(() -> connected.get() != null);
  }

  static Stream<Arguments> failures() {
    return Stream.of(
        hook(
            "throws",
            request -> {
              throw new IllegalStateException("thrown by a hook");
            }),
        hook(
            "throws an error of the JVM",
            request -> {
              throw new OutOfMemoryError("thrown by a hook");
            }),
        hook("returns null", request -> null),
        hook("answers with nothing", request -> Mono.empty()),
        hook("answers with an error", request -> Mono.error(new LinkageError("of a hook"))),
        hook("throws as it is subscribed to", request -> Mono.fromDirect(thrower())),
        lateHook("never answers", request -> Mono.never()),
        lateHook("never tells of a subscription", request -> Mono.fromDirect(subscriber -> {})),
        lateHook("throws as it is cancelled", request -> Mono.fromDirect(throwerAtCancel())),
        lateHook("blocks", AcceptHookTest::block));
  }

  private static Arguments hook(String what, AcceptHook hook) {
    return arguments(what, hook, false);
  }

  private static Arguments lateHook(String what, AcceptHook hook) {
    return arguments(what, hook, true);
  }

  private static Publisher<AcceptDecision> thrower() {
    return subscriber -> {
      throw new StackOverflowError("thrown by a hook");
    };
  }

  private static Publisher<AcceptDecision> throwerAtCancel() {
    return subscriber ->
        subscriber.onSubscribe(
            new Subscription() {
              @Override
              public void request(long n) {}

              @Override
              public void cancel() {
                throw new IllegalStateException("thrown by a hook");
              }
            });
  }

  private static Mono<AcceptDecision> block(ConnectRequest request) {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return Mono.just(AcceptDecision.accept());
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("failures")
  @Execution(ExecutionMode.CONCURRENT)
  void aHookThatFailsFailsItsConnectionOnly(String what, AcceptHook hook, boolean late) {
    if (late) {
      hurry(Ends.SHORT);
    }
    bindForVictims(hook);
    RdmaConnection before = connect(INNOCENT);

    RejectReason rejection = refused(VICTIM).rejection();

    assertThat(rejection).isNotNull();
    assertThat(rejection.code()).isEqualTo(RejectReason.HOOK_FAILED);
    assertThat(rejection.text()).contains("accept hook").doesNotContain("thrown");
    assertThat(connect(INNOCENT).isDisposed()).isFalse();
    assertThat(before.isDisposed()).isFalse();
    await().atMost(Ends.LIMIT).until(() -> server.connectionCount() == 2);
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void hooksThatBlockAreInterruptedAtTheDeadline() {
    AtomicBoolean interrupted = new AtomicBoolean();
    hurry(Ends.SHORT);
    bindForVictims(
        request -> {
          Mono<AcceptDecision> late = block(request);
          interrupted.set(Thread.interrupted());
          return late;
        });

    RejectReason rejection = refused(VICTIM).rejection();

    assertThat(rejection).isNotNull();
    await().atMost(Ends.LIMIT).untilTrue(interrupted);
  }

  /** The hook's deadline is a day. */
  @Test
  void aHookIsCancelledOnceItsDeviceIsRemoved() throws InterruptedException {
    assumeTrue(Addresses.areEmulated(), "no other device can be removed here");
    hurry(Duration.ofDays(1));
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    URI removed = URI.create("emulated://asked-on-a-removed-device?fuse=accept-hook");
    AcceptHook never =
        request ->
            Mono.<AcceptDecision>never()
                .doOnSubscribe(begun -> asked.countDown())
                .doOnCancel(cancelled::countDown);
    servers.bind(removed, never, c -> c.onClose()).block(Ends.LIMIT);
    Disposable connect =
        clients
            .connect(URI.create("emulated://asked-on-a-removed-device"))
            .subscribe(connection -> {}, failure -> {});
    assertThat(asked.await(Ends.LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();

    assertThat(DeviceFault.inject("accept-hook")).isEqualTo(1);

    assertThat(cancelled.await(Ends.LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();
    connect.dispose();
  }

  @Test
  void aHookIsCancelledOnceItsTransportIsDisposedOf() throws InterruptedException {
    hurry(Duration.ofDays(1));
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch cancelled = new CountDownLatch(1);
    bind(
        request ->
            Mono.<AcceptDecision>never()
                .doOnSubscribe(begun -> asked.countDown())
                .doOnCancel(cancelled::countDown));
    Disposable connect =
        clients
            .connect(Addresses.reach(server.address()))
            .subscribe(connection -> {}, failure -> {});
    assertThat(asked.await(Ends.LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();

    servers.dispose();

    assertThat(cancelled.await(Ends.LIMIT.toNanos(), TimeUnit.NANOSECONDS)).isTrue();
    connect.dispose();
  }

  @Test
  void theFirstOfTwoAnswersCounts() {
    bind(
        request ->
            Mono.fromDirect(
                subscriber -> {
                  subscriber.onSubscribe(Operators.emptySubscription());
                  subscriber.onNext(AcceptDecision.accept());
                  subscriber.onNext(AcceptDecision.reject(1, "second thoughts"));
                  subscriber.onError(new IllegalStateException("third"));
                }));

    RdmaConnection client = connect(INNOCENT);

    await().atMost(Ends.LIMIT).until(() -> server.connectionCount() == 1);
    assertThat(client.isDisposed()).isFalse();
  }

  @Test
  @Execution(ExecutionMode.CONCURRENT)
  void anAnswerThatComesTooLateIsDropped() {
    AtomicBoolean cancelled = new AtomicBoolean();
    Sinks.One<AcceptDecision> answer = Sinks.one();
    // The transport must subscribe to the hook within this time.
    hurry(Ends.SHORT);
    bindForVictims(request -> answer.asMono().doOnCancel(() -> cancelled.set(true)));

    RejectReason rejection = refused(VICTIM).rejection();
    assertThat(cancelled).as("cancelled before the client was told").isTrue();
    answer.tryEmitValue(AcceptDecision.accept());

    assertThat(rejection).isNotNull();
    connect(INNOCENT);
    await().atMost(Ends.LIMIT).until(() -> server.connectionCount() == 1);
  }

  @Test
  void aHookThatClosesTheServerKeepsTheConnectionsThatAreThere() {
    bindForVictims(
        request -> {
          server.dispose();
          return Mono.just(AcceptDecision.accept());
        });
    RdmaConnection before = connect(INNOCENT);

    assertThat(refused(VICTIM)).hasMessageContaining("as it is closing");

    assertThat(before.isDisposed()).isFalse();
    assertThat(server.connectionCount()).isEqualTo(1);
  }

  @Test
  void aHookMayDisposeOfTheTransport() {
    AtomicBoolean disposed = new AtomicBoolean();
    bind(
        request -> {
          servers.dispose();
          disposed.set(true);
          return Mono.just(AcceptDecision.accept());
        });

    assertThat(refused(VICTIM)).isNotNull();

    await().atMost(Ends.LIMIT).untilTrue(disposed);
    assertThat(servers.isDisposed()).isTrue();
  }
}
