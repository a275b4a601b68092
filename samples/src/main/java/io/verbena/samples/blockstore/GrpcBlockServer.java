// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.verbena.samples.program.Addresses;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A running gRPC server of a store. Calls run on the event loops, which nothing here blocks. */
final class GrpcBlockServer {
  private final Server server;

  /** Starts it. */
  GrpcBlockServer(NettyServerBuilder builder, GrpcBlockService service) throws IOException {
    server = builder.directExecutor().addService(service).build().start();
  }

  /** The port that it listens on. */
  int port() {
    return server.getPort();
  }

  /**
   * Ends it; idempotent.
   *
   * @param limit for its calls to end
   */
  void close(Duration limit) {
    try {
      server.shutdownNow().awaitTermination(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns where a server in another process offers its memory for one-sided READ: at the port
   * behind that of its calls.
   *
   * @param calls where its calls are
   */
  static URI memoryOf(URI calls) {
    if (calls.getPort() <= 0) {
      throw new IllegalArgumentException(
          "port: " + calls + " (expected: 1..65534, as the memory is at the next one)");
    }
    return Addresses.withPort(calls, calls.getPort() + 1);
  }
}
