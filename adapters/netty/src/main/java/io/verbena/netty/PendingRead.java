// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.Channel;
import io.netty.channel.EventLoop;
import java.util.concurrent.RejectedExecutionException;

/**
 * The read that a channel has asked for and that nothing has come for yet. As with a socket, the
 * channel does not want it any more when its {@code AUTO_READ} is switched off.
 */
final class PendingRead {
  private PendingRead() {}

  /**
   * Takes it back; called by any thread that has switched {@code AUTO_READ} off.
   *
   * @param stop does so, on the channel's event loop
   */
  static void takeBack(Channel channel, Runnable stop) {
    if (!channel.isRegistered()) {
      // No read can have been asked for.
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
            // Else it is on again, and the read is another one.
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
