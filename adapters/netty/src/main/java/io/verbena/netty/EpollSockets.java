// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import org.jspecify.annotations.Nullable;

/** The only class that refers to Netty's epoll classes, so that the JVM loads them on demand. */
final class EpollSockets {
  private EpollSockets() {}

  static @Nullable Throwable unavailabilityCause() {
    return Epoll.unavailabilityCause();
  }

  /** Returns the factory; fails if {@link #unavailabilityCause} returns a cause. */
  static SocketFactory factory() {
    return new SocketFactory(
        EpollIoHandler.newFactory(),
        EpollSocketChannel::new,
        EpollServerSocketChannel::new,
        EpollDatagramChannel::new);
  }
}
