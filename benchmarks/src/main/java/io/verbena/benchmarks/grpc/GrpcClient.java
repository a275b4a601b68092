// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.benchmarks.peers.NettyKind;
import io.verbena.benchmarks.peers.NettyPair;
import io.verbena.benchmarks.work.Deadline;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;

/** A client of an {@link Echo}: one connection, and all its work on one event loop. */
final class GrpcClient implements AutoCloseable {
  private final EventLoopGroup loops;
  private final EventLoop loop;
  private final ManagedChannel channel;
  private final Caller caller;

  /**
   * Creates a client.
   *
   * @param serverFailure as of {@link Caller#Caller}
   */
  GrpcClient(
      NettyKind kind,
      SocketAddress server,
      int lines,
      int size,
      CompletableFuture<Throwable> serverFailure) {
    loops = new MultiThreadIoEventLoopGroup(1, kind.plainHandler());
    loop = loops.next();
    channel =
        NettyChannelBuilder.forAddress(server)
            .eventLoopGroup(loops)
            .channelType(kind.channel())
            .directExecutor()
            .usePlaintext()
            .overrideAuthority("localhost")
            .build();
    caller = new Caller(channel, serverFailure, lines, size);
  }

  void call(long calls, Deadline deadline) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    loop.execute(() -> caller.begin(calls, done));
    deadline.await(done);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    NettyPair.shutDown(loops);
  }
}
