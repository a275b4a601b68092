// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.verbena.benchmarks.peers.NettyKind;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.OtherProcess;
import io.verbena.benchmarks.work.UnaryCalls;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;

/**
 * gRPC over a Netty transport: one connection, an event loop for each end, and all work on these
 * two threads.
 */
public final class GrpcNetty implements UnaryCalls {
  private final Runnable closingServer;
  private final GrpcClient client;

  private GrpcNetty(Runnable closingServer, GrpcClient client) {
    this.closingServer = closingServer;
    this.client = client;
  }

  /** Returns calls to a server in this JVM. */
  public static GrpcNetty inThisJvm(NettyKind kind, int lines, int size) throws Exception {
    Echo echo = new Echo(lines, size);
    GrpcServer server = new GrpcServer(kind, echo);
    return new GrpcNetty(
        server::close, new GrpcClient(kind, server.address(), lines, size, echo.failure()));
  }

  /** Returns calls to a server in another process. */
  public static GrpcNetty inProcesses(NettyKind kind, int lines, int size) throws Exception {
    OtherProcess other = new OtherProcess(GrpcServer.class, kind, lines, size);
    SocketAddress address = kind.parse(other.line());
    return new GrpcNetty(
        other::close, new GrpcClient(kind, address, lines, size, new CompletableFuture<>()));
  }

  @Override
  public void call(long calls, Deadline deadline) throws Exception {
    client.call(calls, deadline);
  }

  @Override
  public void close() {
    try {
      client.close();
    } finally {
      closingServer.run();
    }
  }
}
