// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaSockets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Creates event loops on the HCA of the tests, and finds unused ports of it. */
final class Loops {
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(7_000);

  private Loops() {}

  static RdmaSockets open() {
    return RdmaSockets.builder(Addresses.of("grpc")).loops(2).build();
  }

  static void close(RdmaSockets sockets) {
    sockets.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
  }

  static int nextPort() {
    return NEXT_PORT.getAndIncrement();
  }
}
