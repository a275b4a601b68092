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
import java.util.concurrent.CompletionStage;
import reactor.core.publisher.Flux;

/** Connections of the reactive transport, with a sleeping loop for each end. */
public final class ReactiveIdleConnections implements IdleConnections {
  private static final URI ADDRESS = URI.create("emulated://verbena-idle");
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final int size;
  private final RdmaTransport clients;
  private final RdmaTransport servers;
  private final RdmaServer listener;
  private final List<Echoed> connections = new ArrayList<>();

  /**
   * Creates a participant with default options, except for one sleeping loop at each end.
   *
   * @param size the bytes of each message
   */
  public ReactiveIdleConnections(int size) {
    this(size, RdmaOptions.defaults().keepAlive());
  }

  /**
   * Creates a participant with default options, except for the keep-alive and one sleeping loop at
   * each end.
   *
   * @param size the bytes of each message
   * @param keepAlive the idle time after which an end probes the other; zero for never
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
      Echoed opened = new Echoed(deadline.await(clients.connect(listener.address()).toFuture()));
      connections.add(opened);
      deadline.await(opened.echo(1));
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
  public CompletionStage<Void> echo(int connection, long messages) {
    return connections.get(connection).echo(messages);
  }

  /** One connection, whose messages are echoed. */
  private final class Echoed {
    private final RdmaConnection connection;

    /** Messages not yet echoed. Written before the first one is sent, then on the loop. */
    private long left;

    private CompletableFuture<Void> echoed = new CompletableFuture<>();

    Echoed(RdmaConnection connection) {
      this.connection = connection;
      connection.receive().subscribe(this::received, this::fail);
    }

    private CompletionStage<Void> echo(long messages) {
      left = messages;
      CompletableFuture<Void> all = new CompletableFuture<>();
      echoed = all;
      connection
          .send(Flux.range(0, Math.toIntExact(messages)).map(each -> message(connection)))
          .subscribe(null, this::fail);
      return all;
    }

    private void received(ByteBuf message) {
      int length = message.readableBytes();
      message.release();
      if (length != size) {
        fail(new IllegalStateException("answer: " + length + " bytes (expected: " + size + ")"));
      } else if (--left == 0) {
        echoed.complete(null);
      }
    }

    private void fail(Throwable why) {
      echoed.completeExceptionally(why);
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
