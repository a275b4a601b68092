// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * Tests many connections that open, close and reopen at once. {@code -Dverbena.storm=5000} sets
 * their number, which needs a JVM of several GiB.
 */
@Isolated("it counts the threads of this JVM")
@Timeout(value = 10, unit = TimeUnit.MINUTES)
class StormTest {
  private static final int MANY =
      Integer.getInteger("verbena.storm", Math.max(50, Addresses.rounds(300)));

  private static final Duration PATIENCE = Addresses.within(Duration.ofSeconds(20 + MANY / 50));

  private final int threadsBefore = threads();
  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
  private final RdmaOptions options =
      Ends.options()
          .eagerSize(256)
          .receiveDepth(4)
          .sendDepth(4)
          .connectTimeout(PATIENCE)
          .operationTimeout(PATIENCE)
          .closeTimeout(PATIENCE)
          .meters(new VerbenaMeters(registry))
          .build();
  private final RdmaTransport clients = RdmaTransport.create(options);
  private RdmaTransport servers = RdmaTransport.create(options);
  private RdmaServer server = bind();

  private RdmaServer bind() {
    return servers
        .bind(Addresses.of("storm"), connection -> connection.send(connection.receive()))
        .block(PATIENCE);
  }

  @AfterEach
  void dispose() {
    clients.dispose();
    servers.dispose();
    await().atMost(Ends.LIMIT).until(() -> threads() <= threadsBefore);
  }

  private static int threads() {
    return (int)
        Thread.getAllStackTraces().keySet().stream()
            .filter(thread -> thread.getName().startsWith("verbena"))
            .count();
  }

  private double sum(String gauge) {
    return registry.find(gauge).gauges().stream().mapToDouble(Gauge::value).sum();
  }

  private URI address() {
    return Addresses.reach(server.address());
  }

  private static Mono<Integer> echo(RdmaConnection connection, int number) {
    ByteBuf message = Unpooled.buffer(Integer.BYTES).writeInt(number);
    return connection
        .send(Mono.just(message))
        .then(Mono.defer(() -> connection.receive().next()))
        .map(
            answer -> {
              try {
                return answer.readInt();
              } finally {
                answer.release();
              }
            });
  }

  /** Opens all connections at once. */
  private List<RdmaConnection> connectAll() {
    List<RdmaConnection> all =
        Flux.range(0, MANY)
            .flatMap(i -> clients.connect(address()), MANY)
            .collectList()
            .block(PATIENCE);
    assertThat(all).hasSize(MANY);
    return all;
  }

  /** Returns the registered memory after one connection. */
  private double idleMemory() {
    RdmaConnection one = clients.connect(address()).block(PATIENCE);
    assertThat(echo(one, 1).block(PATIENCE)).isEqualTo(1);
    one.close().block(PATIENCE);
    awaitNoConnections();
    return sum("verbena.memory.registered");
  }

  private void awaitNoConnections() {
    await().atMost(PATIENCE).until(() -> server.connectionCount() == 0);
    await().atMost(PATIENCE).until(() -> sum("verbena.connections") == 0);
  }

  private void awaitIdle(double memory) {
    awaitNoConnections();
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(sum("verbena.memory.registered")).isLessThanOrEqualTo(memory);
              // The last connection leaves its loop slightly after it leaves the connection count.
              assertThat(sum("verbena.completion.queue.reserved")).isZero();
            });
    assertThat(sum("verbena.send.queue.depth")).isZero();
  }

  @Test
  void allWhoConnectAtOnceAreServedAndAllCloseAtOnce() {
    double memory = idleMemory();

    List<RdmaConnection> all = connectAll();
    List<Integer> echoes =
        Flux.range(0, MANY)
            .flatMap(i -> echo(all.get(i), i), MANY)
            .sort()
            .collectList()
            .block(PATIENCE);
    assertThat(echoes).isEqualTo(Flux.range(0, MANY).collectList().block());
    assertThat(server.connectionCount()).isEqualTo(MANY);

    Flux.fromIterable(all).flatMap(RdmaConnection::close, MANY).blockLast(PATIENCE);

    awaitIdle(memory);
  }

  @Test
  void allWhoAreDisposedAtOnceEndWhatIsUnderWayTyped() {
    double memory = idleMemory();
    List<RdmaConnection> all = connectAll();
    AtomicInteger ended = new AtomicInteger();
    Queue<Throwable> untyped = new ConcurrentLinkedQueue<>();
    for (RdmaConnection each : all) {
      each.send(Flux.never())
          .doOnTerminate(ended::incrementAndGet)
          .subscribe(
              null,
              failure -> {
                if (!(failure instanceof RdmaException)) {
                  untyped.add(failure);
                }
              });
    }

    all.forEach(RdmaConnection::dispose);

    await().atMost(PATIENCE).until(() -> ended.get() == MANY);
    assertThat(untyped).isEmpty();
    awaitIdle(memory);
  }

  @Test
  void clientsOfAServerThatIsRestartedLoseNothingButWhatWasUnderWay() {
    Sinks.Empty<Void> enough = Sinks.empty();
    List<Client> all = Flux.range(0, MANY).map(i -> new Client()).collectList().block();
    List<Disposable> running = all.stream().map(client -> client.run(enough)).toList();
    await().atMost(PATIENCE).until(() -> all.stream().allMatch(client -> client.echoed > 2));

    int[] before = all.stream().mapToInt(client -> client.connects).toArray();
    servers.dispose();
    servers = RdmaTransport.create(options);
    server = bind();

    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              for (int i = 0; i < MANY; i++) {
                assertThat(all.get(i).connects).as("client %s", i).isGreaterThan(before[i]);
                assertThat(all.get(i).echoedSinceConnect).as("client %s", i).isGreaterThan(2);
              }
            });
    enough.tryEmitEmpty();
    await().atMost(PATIENCE).until(() -> running.stream().allMatch(Disposable::isDisposed));
    for (Client each : all) {
      assertThat(each.wrongs).isEmpty();
    }
    awaitNoConnections();
  }

  /** Requests one echo after the other, and reconnects after a failure. */
  private final class Client {
    private final Queue<Object> wrongs = new ConcurrentLinkedQueue<>();
    private volatile int connects;
    private volatile int echoed;
    private volatile int echoedSinceConnect;

    Disposable run(Sinks.Empty<Void> enough) {
      return clients
          .connect(address())
          .flatMap(connection -> serve(connection, enough))
          .retryWhen(
              Retry.backoff(Long.MAX_VALUE, Duration.ofMillis(20))
                  .maxBackoff(Duration.ofMillis(500))
                  .jitter(0.5)
                  .filter(this::isTyped))
          .subscribe(done -> {}, wrongs::add);
    }

    private boolean isTyped(Throwable failure) {
      if (!(failure instanceof RdmaException)) {
        wrongs.add(failure);
      }
      return failure instanceof RdmaException;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // one connection at a time, on one loop
    private Mono<Void> serve(RdmaConnection connection, Sinks.Empty<Void> enough) {
      connects++;
      echoedSinceConnect = 0;
      Sinks.Many<Integer> out = Sinks.many().unicast().onBackpressureBuffer();
      out.tryEmitNext(echoed);
      Mono<Void> in =
          connection
              .receive()
              .doOnNext(
                  answer -> {
                    int number = answer.readInt();
                    answer.release();
                    if (number != echoed) {
                      wrongs.add(number + " instead of " + echoed);
                    }
                    echoed++;
                    echoedSinceConnect++;
                    out.tryEmitNext(echoed);
                  })
              .then();
      return Mono.when(in, connection.send(out.asFlux().map(this::message)))
          .then(Mono.<Void>error(new IllegalStateException("it ended without a failure")))
          .takeUntilOther(enough.asMono())
          .doFinally(end -> connection.dispose());
    }

    private ByteBuf message(int number) {
      return Unpooled.buffer(Integer.BYTES).writeInt(number);
    }
  }
}
