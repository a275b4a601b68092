// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.Future;
import io.verbena.benchmarks.peers.NettyKind;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.UnaryCalls;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * gRPC over a Netty transport: one connection, an event loop for each end, and all work on these
 * two threads.
 */
public final class GrpcNetty implements UnaryCalls {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private final EventLoopGroup servers;
  private final EventLoopGroup clients;
  private final EventLoop client;
  private final Server server;
  private final ManagedChannel channel;
  private final Caller caller;

  public GrpcNetty(NettyKind kind, int lines, int size) throws Exception {
    servers = new MultiThreadIoEventLoopGroup(1, kind.plainHandler());
    clients = new MultiThreadIoEventLoopGroup(1, kind.plainHandler());
    client = clients.next();
    Echo echo = new Echo(lines, size);
    server =
        NettyServerBuilder.forAddress(kind.address())
            .bossEventLoopGroup(servers)
            .workerEventLoopGroup(servers)
            .channelType(kind.serverChannel())
            .directExecutor()
            .addService(echo.service())
            .build()
            .start();
    channel =
        NettyChannelBuilder.forAddress(server.getListenSockets().get(0))
            .eventLoopGroup(clients)
            .channelType(kind.channel())
            .directExecutor()
            .usePlaintext()
            .overrideAuthority("localhost")
            .build();
    caller = new Caller(channel, echo, lines, size);
  }

  @Override
  public void call(long calls, Deadline deadline) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    client.execute(() -> caller.begin(calls, done));
    deadline.await(done);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
    shutDown(clients);
    shutDown(servers);
  }

  private static void shutDown(EventLoopGroup group) {
    Future<?> down = group.shutdownGracefully(0, LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    if (!down.awaitUninterruptibly(LIMIT.toMillis())) {
      throw new IllegalStateException("event loop: still running after " + LIMIT);
    }
  }
}
