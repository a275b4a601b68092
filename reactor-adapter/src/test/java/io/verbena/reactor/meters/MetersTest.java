// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.meters;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnectException;
import io.verbena.RdmaMemory;
import io.verbena.RemoteAccessException;
import io.verbena.RemoteMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.nio.ByteBuffer;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests that each meter changes when its subject does. */
class MetersTest {
  private static final int LONG = 100_000;

  private final Readings client = new Readings();
  private final Readings server = new Readings();
  private final Ends ends =
      Ends.create(Ends.options().meters(server.meters()), Ends.options().meters(client.meters()));

  @AfterEach
  void close() {
    ends.close();
  }

  @Test
  void countsMessagesAndTheirBytesBothWays() {
    Ends.Pair pair = ends.connect();
    Mono<Long> received =
        pair.server()
            .receive()
            .take(3)
            .map(Ends::take)
            .map(bytes -> (long) bytes.length)
            .reduce(0L, Long::sum);
    Flux<ByteBuf> messages =
        Flux.just(1, 2000, LONG).map(length -> Ends.message(pair.client(), length, 1));

    assertThat(Mono.zip(received, pair.client().send(messages).thenReturn(1)).block(Ends.LIMIT))
        .isNotNull();

    assertThat(client.of("messages", "direction", "out")).isEqualTo(3);
    assertThat(client.of("data", "direction", "out")).isEqualTo(2001 + LONG);
    assertThat(server.of("messages", "direction", "in")).isEqualTo(3);
    assertThat(server.of("data", "direction", "in")).isEqualTo(2001 + LONG);
    assertThat(server.of("messages", "direction", "out")).isZero();
    assertThat(client.of("operations", "operation", "send", "status", "success")).isPositive();
    assertThat(client.of("operations.data", "operation", "send")).isGreaterThan(2001);
    // The receiver read the long message.
    assertThat(server.of("operations", "operation", "read", "status", "success")).isOne();
    assertThat(server.of("operations.data", "operation", "read")).isEqualTo(LONG);
    assertThat(server.of("completion.queue.depth")).isPositive();
    assertThat(client.of("errors")).isZero();
  }

  @Test
  void timesOneSidedOperationsAndCountsTheirBytes() {
    Ends.Pair pair = ends.connect();
    try (RdmaMemory.Region region = register(pair, Right.READ, Right.WRITE, Right.ATOMIC)) {
      RemoteMemory token = region.token();
      pair.client().read(token.slice(0, 100)).map(Ends::take).block(Ends.LIMIT);
      pair.client().write(Ends.message(pair.client(), 30, 1), token).block(Ends.LIMIT);
      pair.client()
          .writeWithImmediate(Ends.message(pair.client(), 7, 1), token, 1)
          .block(Ends.LIMIT);
      pair.client().fetchAndAdd(token.slice(0, 8), 1).block(Ends.LIMIT);
      pair.client().compareAndSwap(token.slice(0, 8), 1, 2).block(Ends.LIMIT);
    }

    expectOne("read", 100);
    expectOne("write", 30);
    expectOne("write_with_immediate", 7);
    expectOne("fetch_and_add", 8);
    expectOne("compare_and_swap", 8);
  }

  private void expectOne(String operation, int bytes) {
    assertThat(client.of("operations", "operation", operation, "status", "success"))
        .as(operation)
        .isOne();
    assertThat(client.of("operations.data", "operation", operation)).as(operation).isEqualTo(bytes);
  }

  private static RdmaMemory.Region register(Ends.Pair pair, Right... rights) {
    return pair.server().memory().register(ByteBuffer.allocateDirect(4096), Set.of(rights));
  }

  @Test
  void countsFailuresByOperationStatusAndException() {
    Ends.Pair pair = ends.connect();
    RdmaMemory.Region region = register(pair, Right.READ);
    region.close();
    assertThatThrownBy(() -> pair.client().read(region.token()).block(Ends.LIMIT))
        .isInstanceOf(RemoteAccessException.class);

    assertThat(client.of("operations", "operation", "read", "status", "rem_access_err")).isOne();
    assertThat(
            client.of(
                "errors",
                "operation",
                "read",
                "status",
                "rem_access_err",
                "exception",
                "RemoteAccessException"))
        .isOne();
    // The connection ends by this error or by the peer's disconnect, whichever is seen first.
    client.await(1, Ends.LIMIT, "errors", "operation", "connection");
    client.await(0, Ends.LIMIT, "connections");

    assertThatThrownBy(
            () ->
                ends.clientSide()
                    .connect(Addresses.reach(Addresses.of("meters-nobody")))
                    .block(Ends.LIMIT))
        .isInstanceOf(RdmaConnectException.class);
    assertThat(
            client.of(
                "errors",
                "operation",
                "connect",
                "status",
                "none",
                "exception",
                "RdmaConnectException"))
        .isOne();
  }

  @Test
  void tellsOfQueuesCreditsAndMemoryUntilAllIsClosed() {
    Ends.Pair pair = ends.connect();

    assertThat(client.of("connections")).isOne();
    assertThat(client.of("send.queue.limit")).isEqualTo(Ends.options().build().sendDepth());
    assertThat(client.of("credits", "credit", "receive")).isPositive();
    assertThat(client.of("credits", "credit", "message")).isPositive();
    assertThat(client.of("credits", "credit", "immediate")).isPositive();
    assertThat(client.of("memory.registered"))
        .isEqualTo((double) pair.client().memory().registeredBytes())
        .isPositive();
    assertThat(client.of("memory.limit"))
        .isEqualTo((double) Ends.options().build().maxRegisteredBytes());
    assertThat(client.of("completion.queue.reserved")).isPositive();
    assertThat(client.of("completion.queue.limit"))
        .isGreaterThanOrEqualTo(client.of("completion.queue.reserved"));

    // No subscriber requests messages: all credits are used up, and no more.
    int window = Ends.options().build().window();
    pair.client()
        .send(Flux.range(0, window + 10).map(i -> Ends.message(pair.client(), 10, i)))
        .subscribe(done -> {}, lost -> {});
    client.await(0, Ends.LIMIT, "credits", "credit", "message");
    client.await(window, Ends.LIMIT, "messages", "direction", "out");

    pair.client().dispose();
    for (String gauge :
        new String[] {
          "connections",
          "send.queue.depth",
          "send.queue.limit",
          "credits",
          "completion.queue.reserved",
          "receive.pool.size",
          "receive.pool.promised"
        }) {
      client.await(0, Ends.LIMIT, gauge);
    }
    ends.close();
    for (String gauge :
        new String[] {"memory.registered", "memory.limit", "completion.queue.limit"}) {
      assertThat(client.of(gauge)).as(gauge).isZero();
      assertThat(server.of(gauge)).as(gauge).isZero();
    }
    assertThat(client.of("messages", "direction", "out")).isEqualTo(window);
  }

  @Test
  void hasNoMoreMetersForMoreConnections() {
    for (int i = 0; i < 3; i++) {
      exchange();
    }
    int meters = client.size();
    for (int i = 0; i < 20; i++) {
      exchange();
    }

    // A status that occurs for the first time adds a timer.
    assertThat(client.size()).isLessThan(meters + 10);
    assertThat(client.of("messages", "direction", "out")).isEqualTo(23);
    client.await(0, Ends.LIMIT, "connections");
  }

  private void exchange() {
    Ends.Pair pair = ends.connect();
    Mono<byte[]> received = pair.server().receive().next().map(Ends::take);
    Mono<Void> sent = pair.client().send(Mono.just(Ends.message(pair.client(), 10, 1)));
    Mono.zip(received, sent.thenReturn(1)).block(Ends.LIMIT);
    Mono.whenDelayError(pair.client().close(), pair.server().close()).block(Ends.LIMIT);
  }
}
