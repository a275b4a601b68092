// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.netty.buffer.ByteBuf;
import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.RdmaOptions;
import io.verbena.RdmaServer;
import io.verbena.RdmaTransport;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.IdleConnections;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Mono;

/**
 * Connections of the reactive transport, which sleeps, with few and small buffers; a loop for each
 * end.
 */
public final class ReactiveIdleConnections implements IdleConnections {
  private static final URI ADDRESS = URI.create("emulated://verbena-idle");
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final int size;
  private final RdmaTransport clients;
  private final RdmaTransport servers;
  private final RdmaServer listener;
  private final List<RdmaConnection> connections = new ArrayList<>();

  /**
   * @param size the bytes of the message that each carries
   * @param keepAlive the silence after which each end asks the other
   */
  public ReactiveIdleConnections(int size, Duration keepAlive) {
    this.size = size;
    RdmaOptions options =
        RdmaOptions.builder()
            .loops(1)
            .pollMode(PollMode.EVENT)
            .eagerSize(1024)
            .receiveDepth(4)
            .sendDepth(4)
            .window(4)
            .keepAlive(keepAlive)
            .build();
    clients = RdmaTransport.create(options);
    servers = RdmaTransport.create(options);
    listener =
        Objects.requireNonNull(
            servers
                .bind(ADDRESS, connection -> connection.send(connection.receive()))
                .block(LIMIT));
  }

  @Override
  public void open(int count, Deadline deadline) throws Exception {
    for (int i = 0; i < count; i++) {
      RdmaConnection connection = deadline.await(clients.connect(listener.address()).toFuture());
      connections.add(connection);
      CompletableFuture<Integer> answered = new CompletableFuture<>();
      connection
          .receive()
          .subscribe(
              message -> {
                answered.complete(message.readableBytes());
                message.release();
              },
              answered::completeExceptionally);
      deadline.await(connection.send(Mono.fromSupplier(() -> message(connection))).toFuture());
      int length = deadline.await(answered);
      if (length != size) {
        throw new IllegalStateException("answer: " + length + " bytes (expected: " + size + ")");
      }
    }
  }

  private ByteBuf message(RdmaConnection connection) {
    return connection.memory().allocator().directBuffer(size).writeZero(size);
  }

  @Override
  public void close() {
    clients.dispose();
    servers.dispose();
  }
}
