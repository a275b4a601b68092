// SPDX-License-Identifier: Apache-2.0
package io.verbena.vertx;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.InternetProtocolFamily;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.verbena.netty.RdmaChannelOption;
import io.vertx.core.datagram.DatagramSocketOptions;
import io.vertx.core.spi.transport.Transport;
import java.net.SocketAddress;
import org.jspecify.annotations.Nullable;

/**
 * The transport from which Vert.x creates its loops and channels: RDMA channels for streams, and
 * everything else from Vert.x's NIO transport. It has the methods of Vert.x 5.0 and of 5.1, which
 * differ.
 *
 * <p>Vert.x hands received buffers to programs, which do not release them. It copies buffers of
 * Netty's pools, and leaves all others to the garbage collector ({@code VertxHandler.safeBuffer}).
 * Registered memory has to be released, so the channels copy received bytes ({@link
 * RdmaChannelOption#COPY_READS}).
 */
@SuppressWarnings("deprecation") // of InternetProtocolFamily, which Vert.x names
final class StreamsOverRdma implements Transport {
  private final Transport sockets;
  private final IoHandlerFactory loops;
  private final ChannelFactory<? extends Channel> channels;
  private final ChannelFactory<? extends ServerChannel> serverChannels;

  /**
   * @param sockets the transport for everything but streams
   * @param loops the factory of the channels' event loops
   */
  StreamsOverRdma(
      Transport sockets,
      IoHandlerFactory loops,
      ChannelFactory<? extends Channel> channels,
      ChannelFactory<? extends ServerChannel> serverChannels) {
    this.sockets = sockets;
    this.loops = loops;
    this.channels = () -> copying(channels.newChannel());
    this.serverChannels = () -> copying(serverChannels.newChannel());
  }

  private static <T extends Channel> T copying(T channel) {
    channel.config().setOption(RdmaChannelOption.COPY_READS, true);
    return channel;
  }

  @Override
  public IoHandlerFactory ioHandlerFactory() {
    return loops;
  }

  @Override
  public boolean supportsDomainSockets() {
    return sockets.supportsDomainSockets();
  }

  @Override
  public SocketAddress convert(io.vertx.core.net.SocketAddress address) {
    return sockets.convert(address);
  }

  @Override
  public io.vertx.core.net.@Nullable SocketAddress convert(SocketAddress address) {
    return sockets.convert(address);
  }

  /** Returns a datagram channel; Vert.x 5.0 calls this method. */
  public DatagramChannel datagramChannel() {
    return new NioDatagramChannel();
  }

  @Override
  public DatagramChannel datagramChannel(InternetProtocolFamily family) {
    return sockets.datagramChannel(family);
  }

  /** Returns the factory of datagram channels; Vert.x 5.1 calls this method. */
  @Override
  public ChannelFactory<? extends DatagramChannel> datagramChannelFactory() {
    return NioDatagramChannel::new;
  }

  @Override
  public ChannelFactory<? extends Channel> channelFactory(boolean domainSocket) {
    return domainSocket ? sockets.channelFactory(true) : channels;
  }

  @Override
  public ChannelFactory<? extends ServerChannel> serverChannelFactory(boolean domainSocket) {
    return domainSocket ? sockets.serverChannelFactory(true) : serverChannels;
  }

  @Override
  public void configure(DatagramChannel channel, DatagramSocketOptions options) {
    sockets.configure(channel, options);
  }
}
