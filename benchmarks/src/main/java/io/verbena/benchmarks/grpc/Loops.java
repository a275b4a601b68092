// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.Future;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Ends event loops. */
final class Loops {
  private static final Duration LIMIT = Duration.ofSeconds(10);

  private Loops() {}

  static void shutDown(EventLoopGroup group) {
    Future<?> down = group.shutdownGracefully(0, LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    if (!down.awaitUninterruptibly(LIMIT.toMillis())) {
      throw new IllegalStateException("event loop: still running after " + LIMIT);
    }
  }
}
