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
import io.verbena.benchmarks.work.OtherProcess;
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
  private final URI server;
  private final Runnable closingServer;
  private final List<Echoed> connections = new ArrayList<>();

  private ReactiveIdleConnections(
      int size, RdmaTransport clients, URI server, Runnable closingServer) {
    this.size = size;
    this.clients = clients;
    this.server = server;
    this.closingServer = closingServer;
  }

  /**
   * Returns connections within this JVM, with default options, except for the keep-alive and one
   * sleeping loop at each end.
   *
   * @param size the bytes of each message
   * @param keepAlive the idle time after which an end probes the other; zero for never
   */
  public static ReactiveIdleConnections inThisJvm(int size, Duration keepAlive) {
    RdmaTransport servers = transport(keepAlive);
    return new ReactiveIdleConnections(
        size, transport(keepAlive), listen(servers, ADDRESS).address(), servers::dispose);
  }

  /** Does the same as {@link #inThisJvm(int, Duration)}, with the default keep-alive. */
  public static ReactiveIdleConnections inThisJvm(int size) {
    return inThisJvm(size, RdmaOptions.defaults().keepAlive());
  }

  /**
   * Returns connections to another process, with default options, except for one sleeping loop at
   * each end.
   *
   * @param size the bytes of each message
   * @param at the address on which the other process listens
   */
  public static ReactiveIdleConnections inProcesses(int size, URI at) throws Exception {
    OtherProcess other = new OtherProcess(Server.class, at);
    URI server = URI.create(other.line());
    return new ReactiveIdleConnections(
        size, transport(RdmaOptions.defaults().keepAlive()), server, other::close);
  }

  private static RdmaTransport transport(Duration keepAlive) {
    return RdmaTransport.create(
        RdmaOptions.builder().loops(1).pollMode(PollMode.EVENT).keepAlive(keepAlive).build());
  }

  private static RdmaServer listen(RdmaTransport servers, URI at) {
    return Objects.requireNonNull(
        servers.bind(at, connection -> connection.send(connection.receive())).block(LIMIT));
  }

  /** The end in the other process: prints its address, and echoes all messages. */
  static final class Server {
    private Server() {}

    /** Arguments: the address to listen on. */
    public static void main(String[] arguments) {
      OtherProcess.endWithParent();
      RdmaServer server =
          listen(transport(RdmaOptions.defaults().keepAlive()), URI.create(arguments[0]));
      System.out.println(server.address());
      server.onClose().block();
    }
  }

  @Override
  public void open(int count, Deadline deadline) throws Exception {
    for (int i = 0; i < count; i++) {
      Echoed opened = new Echoed(deadline.await(clients.connect(server).toFuture()));
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
    try {
      clients.dispose();
    } finally {
      closingServer.run();
    }
  }
}
