// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;

/**
 * Cancels the pending read of a channel whose {@code AUTO_READ} is switched off, as a socket
 * channel does.
 */
final class PendingRead {
  private PendingRead() {}

  /**
   * Cancels the pending read; called by any thread that has switched {@code AUTO_READ} off.
   *
   * @param stop cancels it; called on the channel's event loop
   */
  static void takeBack(Channel channel, Runnable stop) {
    if (!channel.isRegistered()) {
      // There is no pending read.
      return;
    }
    EventLoop loop = channel.eventLoop();
    if (loop.inEventLoop()) {
      stop.run();
      return;
    }
    try {
      loop.execute(
          () -> {
            // If AUTO_READ is on again, the pending read is a new one.
            if (!channel.config().isAutoRead()) {
              stop.run();
            }
          });
    } catch (RejectedExecutionException e) {
      // The loop has ended, and has closed its channels.
      return;
    }
  }
}
