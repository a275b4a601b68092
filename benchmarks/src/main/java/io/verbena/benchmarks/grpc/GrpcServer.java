// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.benchmarks.peers.NettyKind;
import java.net.SocketAddress;

/** The server of an {@link Echo} over a Netty transport, with all its work on one event loop. */
final class GrpcServer implements AutoCloseable {
  private final EventLoopGroup loop;
  private final Server server;

  GrpcServer(NettyKind kind, Echo echo) throws Exception {
    loop = new MultiThreadIoEventLoopGroup(1, kind.plainHandler());
    server =
        NettyServerBuilder.forAddress(kind.address())
            .bossEventLoopGroup(loop)
            .workerEventLoopGroup(loop)
            .channelType(kind.serverChannel())
            .directExecutor()
            .addService(echo.service())
            .build()
            .start();
  }

  SocketAddress address() {
    return server.getListenSockets().get(0);
  }

  @Override
  public void close() {
    server.shutdownNow();
    Loops.shutDown(loop);
  }
}
