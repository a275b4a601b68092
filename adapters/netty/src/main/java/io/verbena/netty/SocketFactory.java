// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.channel.ChannelFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import org.jspecify.annotations.Nullable;

/**
 * Creates the channels of one kind of sockets, and the handlers that drive them on loops.
 * Thread-safe.
 *
 * @param handlers creates the handler of a loop's sockets; null for the default, NIO
 * @param clients creates client channels
 * @param servers creates server channels
 * @param datagrams creates datagram channels
 */
record SocketFactory(
    @Nullable IoHandlerFactory handlers,
    ChannelFactory<? extends SocketChannel> clients,
    ChannelFactory<? extends ServerSocketChannel> servers,
    ChannelFactory<? extends DatagramChannel> datagrams) {
  static final SocketFactory NIO =
      new SocketFactory(
          null, NioSocketChannel::new, NioServerSocketChannel::new, NioDatagramChannel::new);
}
