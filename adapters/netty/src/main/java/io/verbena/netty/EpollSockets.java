// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import org.jspecify.annotations.Nullable;

/** The only class that names Netty's for epoll, so that the JVM loads none unless it is asked. */
final class EpollSockets {
  private EpollSockets() {}

  static @Nullable Throwable unavailabilityCause() {
    return Epoll.unavailabilityCause();
  }

  /** Fails where there is a {@linkplain #unavailabilityCause cause}. */
  static SocketFactory factory() {
    return new SocketFactory(
        EpollIoHandler.newFactory(),
        EpollSocketChannel::new,
        EpollServerSocketChannel::new,
        EpollDatagramChannel::new);
  }
}
