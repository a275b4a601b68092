// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.benchmarks.peers.NettyKind;
import io.verbena.benchmarks.peers.NettyPair;
import io.verbena.benchmarks.work.OtherProcess;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;

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

  /** The other process. Arguments: the kind, the number of lines, and the size of the messages. */
  public static void main(String[] arguments) throws Exception {
    OtherProcess.endWithParent();
    NettyKind kind = NettyKind.valueOf(arguments[0]);
    Echo echo = new Echo(Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]));
    CompletableFuture<Void> unused = echo.failure().thenAccept(OtherProcess::fail);
    System.out.println(NettyKind.format(new GrpcServer(kind, echo).address()));
  }

  SocketAddress address() {
    return server.getListenSockets().get(0);
  }

  @Override
  public void close() {
    server.shutdownNow();
    NettyPair.shutDown(loop);
  }
}
