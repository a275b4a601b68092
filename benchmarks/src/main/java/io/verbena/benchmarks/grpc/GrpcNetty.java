// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.verbena.benchmarks.peers.NettyKind;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.UnaryCalls;

/**
 * gRPC over a Netty transport: one connection, an event loop for each end, and all work on these
 * two threads.
 */
public final class GrpcNetty implements UnaryCalls {
  private final GrpcServer server;
  private final GrpcClient client;

  public GrpcNetty(NettyKind kind, int lines, int size) throws Exception {
    Echo echo = new Echo(lines, size);
    server = new GrpcServer(kind, echo);
    client = new GrpcClient(kind, server.address(), lines, size, echo::failure);
  }

  @Override
  public void call(long calls, Deadline deadline) throws Exception {
    client.call(calls, deadline);
  }

  @Override
  public void close() {
    try (server) {
      client.close();
    }
  }
}
