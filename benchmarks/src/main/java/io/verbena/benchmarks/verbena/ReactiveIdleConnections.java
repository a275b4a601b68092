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

/** Connections of the reactive transport, which sleeps; a loop for each end. */
public final class ReactiveIdleConnections implements IdleConnections {
  private static final URI ADDRESS = URI.create("emulated://verbena-idle");
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final int size;
  private final RdmaTransport clients;
  private final RdmaTransport servers;
  private final RdmaServer listener;
  private final List<Idle> connections = new ArrayList<>();

  /**
   * With default options, but for a loop at each end that sleeps.
   *
   * @param size the bytes of the message that each carries
   * @param keepAlive the silence after which each end asks the other
   */
  public ReactiveIdleConnections(int size, Duration keepAlive) {
    this.size = size;
    RdmaOptions options =
        RdmaOptions.builder().loops(1).pollMode(PollMode.EVENT).keepAlive(keepAlive).build();
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
      Idle opened = new Idle(deadline.await(clients.connect(listener.address()).toFuture()));
      connections.add(opened);
      opened.echo(deadline);
    }
  }

  @Override
  public void shut(Deadline deadline) throws Exception {
    List<CompletableFuture<Void>> closing = new ArrayList<>();
    connections.forEach(each -> closing.add(each.connection.close().toFuture()));
    connections.clear();
    for (CompletableFuture<Void> each : closing) {
      deadline.await(each);
    }
  }

  @Override
  public void echo(Deadline deadline) throws Exception {
    connections.get(0).echo(deadline);
  }

  /** One connection, whose messages come back. */
  private final class Idle {
    private final RdmaConnection connection;
    private volatile CompletableFuture<Integer> answered = new CompletableFuture<>();

    Idle(RdmaConnection connection) {
      this.connection = connection;
      connection
          .receive()
          .subscribe(
              message -> {
                answered.complete(message.readableBytes());
                message.release();
              },
              failed -> answered.completeExceptionally(failed));
    }

    private void echo(Deadline deadline) throws Exception {
      CompletableFuture<Integer> answer = new CompletableFuture<>();
      answered = answer;
      deadline.await(connection.send(Mono.fromSupplier(() -> message(connection))).toFuture());
      int length = deadline.await(answer);
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
