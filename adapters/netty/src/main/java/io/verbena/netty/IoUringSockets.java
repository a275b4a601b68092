// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.uring.IoUring;
import io.netty.channel.uring.IoUringDatagramChannel;
import io.netty.channel.uring.IoUringIoHandler;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import org.jspecify.annotations.Nullable;

/** The only class that refers to Netty's io_uring classes, so that the JVM loads them on demand. */
final class IoUringSockets {
  private IoUringSockets() {}

  static @Nullable Throwable unavailabilityCause() {
    return IoUring.unavailabilityCause();
  }

  /** Returns the factory; fails if {@link #unavailabilityCause} returns a cause. */
  static SocketFactory factory() {
    return new SocketFactory(
        IoUringIoHandler.newFactory(),
        IoUringSocketChannel::new,
        IoUringServerSocketChannel::new,
        IoUringDatagramChannel::new);
  }
}
