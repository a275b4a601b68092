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
 * Makes the channels of one kind of sockets, and what drives them on a loop. Thread-safe.
 *
 * @param handlers makes the handler of a loop's sockets; null for the one of NIO that a loop has
 *     unless it is given another
 * @param clients makes channels of clients
 * @param servers makes channels of servers
 * @param datagrams makes channels of datagrams
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
