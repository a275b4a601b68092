// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.verbena.samples.program.Addresses;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A running gRPC server of a store. Calls run on the event loops, and do not block. */
final class GrpcBlockServer {
  private final Server server;

  /** Starts the server. */
  GrpcBlockServer(NettyServerBuilder builder, GrpcBlockService service) throws IOException {
    server = builder.directExecutor().addService(service).build().start();
  }

  /** The port that it listens on. */
  int port() {
    return server.getPort();
  }

  /**
   * Ends the server; idempotent.
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
   * Returns the address where a server in another process offers its memory for one-sided READ: the
   * port after the port of its calls.
   *
   * @param calls the address of its calls
   */
  static URI memoryOf(URI calls) {
    if (calls.getPort() <= 0) {
      throw new IllegalArgumentException(
          "port: " + calls + " (expected: 1..65534, as the memory is at the next one)");
    }
    return Addresses.withPort(calls, calls.getPort() + 1);
  }
}
