// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.inprocess.InProcessChannelBuilder;
import io.grpc.inprocess.InProcessServerBuilder;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.UnaryCalls;
import java.util.concurrent.CompletableFuture;

/** gRPC's in-process transport, both ends in the calling thread: the cost of gRPC itself. */
public final class GrpcInProcess implements UnaryCalls {
  private static final String NAME = "verbena-bench";

  private final Server server;
  private final ManagedChannel channel;
  private final Caller caller;

  public GrpcInProcess(int lines, int size) throws Exception {
    Echo echo = new Echo(lines, size);
    server =
        InProcessServerBuilder.forName(NAME)
            .directExecutor()
            .addService(echo.service())
            .build()
            .start();
    channel = InProcessChannelBuilder.forName(NAME).directExecutor().build();
    caller = new Caller(channel, echo.failure(), lines, size);
  }

  @Override
  public void call(long calls, Deadline deadline) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    caller.begin(calls, done);
    deadline.await(done);
  }

  @Override
  public void close() {
    channel.shutdownNow();
    server.shutdownNow();
  }
}
