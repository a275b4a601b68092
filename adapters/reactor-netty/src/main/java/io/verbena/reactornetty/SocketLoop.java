// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** An NIO loop that starts when it is first wanted. Thread-safe. */
final class SocketLoop {
  private final ThreadFactory threads;
  private @Nullable EventLoopGroup group;
  private boolean shutDown;

  SocketLoop(ThreadFactory threads) {
    this.threads = threads;
  }

  /**
   * Returns the loop.
   *
   * @throws IllegalStateException if it was shut down
   */
  synchronized EventLoop next() {
    if (shutDown) {
      throw new IllegalStateException("the loops are disposed of");
    }
    EventLoopGroup loops = group;
    if (loops == null) {
      loops = new MultiThreadIoEventLoopGroup(1, threads, NioIoHandler.newFactory());
      group = loops;
    }
    return loops.next();
  }

  /** Ends the loop, and closes its sockets; the future succeeds at once if it never started. */
  synchronized Future<?> shutdownGracefully(Duration quietPeriod, Duration timeout) {
    shutDown = true;
    EventLoopGroup loops = group;
    return loops == null
        ? GlobalEventExecutor.INSTANCE.newSucceededFuture(null)
        : loops.shutdownGracefully(
            quietPeriod.toMillis(), timeout.toMillis(), TimeUnit.MILLISECONDS);
  }
}
