// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaConnection;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.RejectReason;
import io.verbena.core.memory.DirectMemory;
import io.verbena.reactor.testing.Ends;
import io.verbena.reactor.testing.OtherProcess;
import io.verbena.verbs.VerbsProviders;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;

/** Tests addresses {@code rdma://host:port}, for which client and server agree on a medium. */
@Tag("once")
class MediaTest {
  private static final URI ANY_PORT = URI.create("rdma://127.0.0.1:0");
  private static final URI BY_SHM = URI.create("rdma://127.0.0.1:0?medium=shm");

  /** A loopback address of this JVM alone: the HCAs of one address share its UDP port. */
  private static final String OWN_HOST =
      "127."
          + (64 + ProcessHandle.current().pid() / 255 % 64)
          + "."
          + ProcessHandle.current().pid() % 255
          + ".2";

  private static final URI FIRST = URI.create("emulated://media-bind-first:7001");
  private static final URI SECOND = URI.create("emulated://media-bind-second:7002");

  /** The connect timeout is long, as each medium gets only a part of it. */
  private final RdmaTransport transport =
      RdmaTransport.create(Ends.options().connectTimeout(Ends.LIMIT).build());

  @AfterEach
  void dispose() {
    // Fails if a queue pair or a memory region is still open.
    transport.dispose();
  }

  private RdmaServer bind(RdmaTransport by, URI address) {
    return by.bind(address, c -> c.send(c.receive())).blockOptional(Ends.LIMIT).orElseThrow();
  }

  private RdmaConnection connect(URI address) {
    return transport.connect(address).blockOptional(Ends.LIMIT).orElseThrow();
  }

  /** Returns the server's address with the given media. */
  private static URI with(RdmaServer server, String media) {
    return URI.create(
        "rdma://"
            + server.address().getHost()
            + ":"
            + server.address().getPort()
            + "?medium="
            + media);
  }

  private static void assertEchoes(RdmaConnection connection) {
    String answer =
        connection
            .send(Mono.fromSupplier(() -> Unpooled.wrappedBuffer(new byte[] {1, 2, 3})))
            .thenMany(connection.receive())
            .map(
                message -> {
                  String hex = ByteBufUtil.hexDump(message);
                  message.release();
                  return hex;
                })
            .blockFirst(Ends.LIMIT);
    assertThat(answer).isEqualTo("010203");
  }

  @Test
  void connectsWithinAProcessByMemory() {
    RdmaServer server = bind(transport, ANY_PORT);

    RdmaConnection connection = connect(server.address());

    assertThat(server.address().getPort()).isPositive();
    assertThat(connection.medium()).isEqualTo("emulated");
    assertEchoes(connection);
  }

  @Test
  void connectsProcessesOfAHostBySharedMemory() throws Exception {
    try (OtherProcess server = OtherProcess.listening(ANY_PORT)) {
      assertThat(connect(URI.create(server.line())).medium()).isEqualTo("shm");
    }
  }

  @Test
  void takesTheMediumThatTheServerHas() {
    RdmaServer server = bind(transport, BY_SHM);

    RdmaConnection connection = connect(with(server, "emulated,shm"));

    assertThat(connection.medium()).isEqualTo("shm");
    assertThat(connection.peer())
        .isEqualTo(
            "shm://rdma:%d (pid %d)", server.address().getPort(), ProcessHandle.current().pid());
    assertEchoes(connection);
  }

  @Test
  void servesClientsByEachMediumAtOnePort() {
    RdmaServer server = bind(transport, ANY_PORT);

    assertThat(connect(with(server, "emulated")).medium()).isEqualTo("emulated");
    assertThat(connect(with(server, "shm")).medium()).isEqualTo("shm");
    assertThat(connect(with(server, "iwarp")).medium()).isEqualTo("iwarp");
    await().atMost(Ends.LIMIT).until(() -> server.connectionCount() == 3);
  }

  /** Tests the choice between network media, as for a peer on another host. */
  @Test
  void takesIwarpBeforeRoce() {
    RdmaServer server = bind(transport, URI.create("rdma://" + OWN_HOST + ":0?medium=iwarp,roce"));

    RdmaConnection connection = connect(with(server, "roce,iwarp"));

    assertThat(connection.medium()).isEqualTo("iwarp");
    assertThat(connection.peer())
        .startsWith("iwarp://" + OWN_HOST + ":" + server.address().getPort());
    assertEchoes(connection);
  }

  @Test
  void takesRoceWhereItIsAskedFor() {
    RdmaServer server = bind(transport, URI.create("rdma://" + OWN_HOST + ":0?medium=shm,roce"));

    assertThat(connect(with(server, "roce")).medium()).isEqualTo("roce");
  }

  @Test
  void takesAnotherMediumOnceTheOneOfTheLastConnectIsGone() {
    // These media share no ports with other programs.
    RdmaServer both = bind(transport, URI.create("rdma://127.0.0.1:0?medium=emulated,shm"));
    URI address = both.address();
    assertThat(connect(address).medium()).isEqualTo("emulated");
    both.dispose();

    RdmaServer server = bind(transport, with(both, "shm"));

    assertThat(connect(address).medium()).isEqualTo("shm");
    assertThat(connect(address).medium()).isEqualTo("shm");
    server.dispose();
    bind(transport, address);
    // The transport remembers the last medium for a while, as long as the server has it.
    assertThat(connect(address).medium()).isEqualTo("shm");
  }

  @Test
  void takesAnotherMediumWhereADeviceDoesNotOpen() {
    RdmaServer server = bind(transport, BY_SHM);
    CountDownLatch held = new CountDownLatch(1);
    ReactorTransport hung = opening(held);
    try {
      RdmaConnection connection =
          hung.connect(with(server, "emulated,shm")).blockOptional(Ends.LIMIT).orElseThrow();

      assertThat(connection.medium()).isEqualTo("shm");
      assertEchoes(connection);
    } finally {
      held.countDown();
      hung.dispose();
    }
  }

  @Test
  void opensDevicesOfOtherMediaWhileManyWaitForOneThatDoesNotOpen() {
    RdmaServer server = bind(transport, BY_SHM);
    CountDownLatch held = new CountDownLatch(1);
    ReactorTransport hung = opening(held);
    try {
      for (int host = 0; host < Lookups.THREADS; host++) {
        hung.connect(URI.create("emulated://host-" + host)).subscribe(null, e -> {});
      }

      RdmaConnection connection =
          hung.connect(with(server, "shm")).blockOptional(Ends.LIMIT).orElseThrow();

      assertThat(connection.medium()).isEqualTo("shm");
    } finally {
      held.countDown();
      hung.dispose();
    }
  }

  /** Returns a transport that opens no emulated device before the latch is counted down. */
  private static ReactorTransport opening(CountDownLatch held) {
    VerbsProviders providers = VerbsProviders.load();
    return new ReactorTransport(
        Ends.options().connectTimeout(Duration.ofSeconds(5)).build(),
        null,
        providers,
        address -> {
          if (address.getScheme().equals("emulated")) {
            awaitQuietly(held);
          }
          return providers.of(address).open(address);
        },
        null,
        DirectMemory.jvm());
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      latch.await(2 * Ends.LIMIT.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void tellsOfEachMediumThatFailed() {
    RdmaServer server = bind(transport, ANY_PORT);
    server.dispose();

    assertThatThrownBy(() -> connect(with(server, "emulated,shm")))
        .isInstanceOf(RdmaConnectException.class)
        .hasMessageContaining("no medium leads there: [connect with emulated://")
        .hasMessageContaining("[connect with shm://");
  }

  @Test
  void namesTheTimeThatAMediumHad() throws Exception {
    CountDownLatch held = new CountDownLatch(1);
    CountDownLatch letGo = new CountDownLatch(1);
    RdmaTransport silent = RdmaTransport.create(Ends.options().loops(1).build());
    RdmaTransport hasty =
        RdmaTransport.create(Ends.options().connectTimeout(Duration.ofSeconds(4)).build());
    try {
      // Opens the device first, as that would take a part of the connect timeout.
      assertThat(hasty.memory(FIRST)).isNotNull();
      RdmaServer server =
          silent
              .bind(
                  URI.create("rdma://127.0.0.1:0?medium=emulated"),
                  connection -> {
                    held.countDown();
                    awaitQuietly(letGo);
                    return Mono.never();
                  })
              .blockOptional(Ends.LIMIT)
              .orElseThrow();
      connect(server.address());
      assertThat(held.await(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();

      assertThatThrownBy(() -> hasty.connect(with(server, "emulated,shm")).block(Ends.LIMIT))
          .isInstanceOf(RdmaConnectException.class)
          .hasMessageMatching("(?s).*not established within PT[01](\\.\\d+)?S.*");
    } finally {
      letGo.countDown();
      hasty.dispose();
      silent.dispose();
    }
  }

  @Test
  void letsNoServerListenWhereAnotherOneDoesByOneMedium() {
    RdmaServer first = bind(transport, BY_SHM);

    assertThatThrownBy(() -> bind(transport, with(first, "emulated,shm")))
        .isInstanceOf(RdmaConnectException.class)
        .hasMessageContaining("somebody listens there already");
    // The failed bind released the ports that it had already taken.
    first.dispose();
    bind(transport, with(first, "emulated,shm"));
  }

  @Test
  void countsTheConnectionsOfAllMediaAgainstTheLimit() {
    RdmaTransport limited = RdmaTransport.create(Ends.options().maxConnections(1).build());
    try {
      RdmaServer server = bind(limited, ANY_PORT);
      connect(with(server, "emulated"));

      RdmaConnectException refusal =
          catchThrowableOfType(RdmaConnectException.class, () -> connect(with(server, "shm,roce")));

      // The server has answered, so the client does not try roce.
      assertThat(refusal.rejection()).isNotNull();
      assertThat(refusal.rejection().code()).isEqualTo(RejectReason.CONNECTION_LIMIT);
    } finally {
      limited.dispose();
    }
  }

  @Test
  void endsOnAllMedia() {
    RdmaServer server = bind(transport, ANY_PORT);

    server.dispose();

    server.onClose().block(Ends.LIMIT);
    assertThat(server.isDisposed()).isTrue();
  }

  @Test
  void keepsListeningForASubscriberThatCancelsAsItTakesTheServer() {
    RdmaServer server =
        transport
            .bind(ANY_PORT, c -> c.send(c.receive()))
            .flux()
            .next()
            .blockOptional(Ends.LIMIT)
            .orElseThrow();

    assertThat(server.isDisposed()).isFalse();
    assertEchoes(connect(server.address()));
  }

  @Test
  void keepsListeningWhenAChainBehindTheBindIsCancelled() {
    CompletableFuture<RdmaServer> bound = new CompletableFuture<>();
    Disposable chain =
        transport
            .bind(ANY_PORT, c -> c.send(c.receive()))
            .flatMap(
                server -> {
                  bound.complete(server);
                  return Mono.never();
                })
            .subscribe();
    assertThat(bound).succeedsWithin(Ends.LIMIT);

    chain.dispose();

    assertThat(bound.join().isDisposed()).isFalse();
    assertEchoes(connect(bound.join().address()));
  }

  @Test
  void listensNoMoreOnTheFirstMediumWhenAnotherOneFailsInAnUnknownWay() {
    CompletableFuture<RdmaServer> first = new CompletableFuture<>();

    assertThatThrownBy(
            () ->
                MediaBind.bind(
                        URI.create("rdma://127.0.0.1:7003"),
                        List.of(SECOND, FIRST),
                        candidate ->
                            first.isDone()
                                ? Mono.error(new IllegalStateException("thrown by a test"))
                                : listen(candidate).doOnNext(first::complete))
                    .block(Ends.LIMIT))
        .isInstanceOf(IllegalStateException.class);

    assertThat(first.join().isDisposed()).isTrue();
  }

  @Test
  void listensNoMoreOnceItWasCancelled() {
    RdmaServer early = listen(FIRST).blockOptional(Ends.LIMIT).orElseThrow();
    RdmaServer late = listen(SECOND).blockOptional(Ends.LIMIT).orElseThrow();
    Queue<CoreSubscriber<? super RdmaServer>> binding = new ArrayDeque<>();
    Disposable bind =
        MediaBind.bind(
                ANY_PORT,
                List.of(SECOND, FIRST),
                candidate ->
                    new Mono<>() {
                      @Override
                      public void subscribe(CoreSubscriber<? super RdmaServer> subscriber) {
                        // This bind cannot be cancelled once it has begun.
                        subscriber.onSubscribe(Operators.emptySubscription());
                        binding.add(subscriber);
                      }
                    })
            .subscribe();
    binding.remove().onNext(early);
    CoreSubscriber<? super RdmaServer> second = binding.remove();

    bind.dispose();
    second.onNext(late);

    assertThat(early.isDisposed()).isTrue();
    assertThat(late.isDisposed()).isTrue();
  }

  private Mono<RdmaServer> listen(URI address) {
    return transport.bind(address, c -> Mono.never());
  }

  @Test
  void hasNoMemoryOfSeveralMedia() {
    RdmaServer several = bind(transport, ANY_PORT);
    RdmaServer one = bind(transport, BY_SHM);

    assertThatThrownBy(several::memory)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("RdmaConnection.memory()");
    assertThatThrownBy(() -> transport.memory(ANY_PORT)).isInstanceOf(IllegalStateException.class);
    assertThat(one.memory()).isNotNull();
  }

  @ParameterizedTest
  @CsvSource({
    "rdma://127.0.0.1, 'expected: rdma://host:port'",
    "rdma://127.0.0.1:7?medium=ucx, 'medium: ucx (expected: emulated, shm, disni, verbs'",
    "rdma://127.0.0.1:7?mtu=7, 'option: mtu=7 (expected: medium=...)'",
    "rdma://192.0.2.1:7?medium=shm, 'no medium leads there (tried: shm'",
  })
  void refusesWhatNoMediumIsLike(URI address, String words) {
    RdmaConnectException refusal =
        catchThrowableOfType(RdmaConnectException.class, () -> bind(transport, address));

    assertThat(refusal).hasMessageContaining(words);
  }
}
