// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringDatagramChannel;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * The only class that names Netty's for io_uring, so that the JVM loads none unless it is asked.
 */
final class IoUringSockets {
  private IoUringSockets() {}

  static @Nullable Throwable unavailabilityCause() {
    return IoUring.unavailabilityCause();
  }

  /** Fails where there is a {@linkplain #unavailabilityCause cause}. */
  static SocketFactory factory() {
    return new SocketFactory(
        IoUringIoHandler.newFactory(),
        IoUringSocketChannel::new,
        IoUringServerSocketChannel::new,
        IoUringDatagramChannel::new);
  }
}
