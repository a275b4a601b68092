// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
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
  private final ChannelGroup sockets = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private @Nullable EventLoopGroup group;
  private boolean shutDown;

  SocketLoop(ThreadFactory threads) {
    this.threads = threads;
  }

  /**
   * Registers a socket, which closes with the loop.
   *
   * @throws IllegalStateException if it was shut down
   */
  synchronized ChannelFuture register(Channel socket) {
    requireOpen();
    EventLoopGroup loops = group;
    if (loops == null) {
      loops = new MultiThreadIoEventLoopGroup(1, threads, NioIoHandler.newFactory());
      group = loops;
    }
    ChannelFuture registered = loops.register(socket);
    sockets.add(socket);
    return registered;
  }

  /**
   * @throws IllegalStateException if it was shut down
   */
  synchronized void requireOpen() {
    if (shutDown) {
      throw new IllegalStateException("the loops are disposed of");
    }
  }

  synchronized boolean isShutDown() {
    return shutDown;
  }

  /**
   * Closes the sockets, which a loop that ends at once may not do, and ends the loop; the future
   * succeeds at once if it never started.
   */
  synchronized Future<?> shutdownGracefully(Duration timeout) {
    shutDown = true;
    EventLoopGroup loops = group;
    if (loops == null) {
      return GlobalEventExecutor.INSTANCE.newSucceededFuture(null);
    }
    sockets
        .close()
        .addListener(
            closed -> {
              Future<?> unused =
                  loops.shutdownGracefully(0, timeout.toMillis(), TimeUnit.MILLISECONDS);
            });
    return loops.terminationFuture();
  }
}
