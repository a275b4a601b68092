// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaIoHandler;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** Event loops on the HCA that the tests run on, and ports of it that nobody has used. */
final class Loops {
  private static final AtomicInteger NEXT_PORT = new AtomicInteger(7_000);

  private Loops() {}

  static EventLoopGroup open(String name) {
    return new MultiThreadIoEventLoopGroup(
        2, new DefaultThreadFactory(name, true), RdmaIoHandler.newFactory(Addresses.of("grpc")));
  }

  static void close(EventLoopGroup loops) {
    loops.shutdownGracefully(0, 10, TimeUnit.SECONDS).syncUninterruptibly();
  }

  static int nextPort() {
    return NEXT_PORT.getAndIncrement();
  }
}
