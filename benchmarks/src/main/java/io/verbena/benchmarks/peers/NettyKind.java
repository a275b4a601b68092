// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.PooledByteBufAllocator;
import io.netty.channel.Channel;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.FixedRecvByteBufAllocator;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.RecvByteBufAllocator;
import io.netty.channel.ServerChannel;
import io.netty.channel.WriteBufferWaterMark;
import io.netty.channel.epoll.EpollDomainSocketChannel;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollServerDomainSocketChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.local.LocalServerChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.unix.DomainSocketAddress;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.netty.RdmaIoHandler;
import io.verbena.netty.RdmaServerSocketChannel;
import io.verbena.netty.RdmaSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.file.Path;

/** Netty's transports and Verbena's, with loops that sleep and loops that poll. */
public enum NettyKind {
  /** TCP over loopback, default loops. */
  NIO(Fabric.TCP, false),
  /** TCP over loopback, loops that poll. */
  NIO_BUSY(Fabric.TCP, true),
  /** TCP over loopback by Netty's native epoll, default loops. */
  EPOLL(Fabric.EPOLL, false),
  /** TCP over loopback by Netty's native epoll, loops that poll. */
  EPOLL_BUSY(Fabric.EPOLL, true),
  /** A Unix domain socket by Netty's native epoll, default loops. */
  UNIX(Fabric.UNIX, false),
  /** A Unix domain socket by Netty's native epoll, loops that poll. */
  UNIX_BUSY(Fabric.UNIX, true),
  /** Buffers handed over within the JVM, default loops. */
  LOCAL(Fabric.JVM, false),
  /** Buffers handed over within the JVM, loops that poll. */
  LOCAL_BUSY(Fabric.JVM, true),
  /** RDMA channels on an emulated HCA, loops that sleep. */
  RDMA(Fabric.EMULATED, false),
  /** RDMA channels on an emulated HCA, loops that poll. */
  RDMA_BUSY(Fabric.EMULATED, true),
  /** RDMA channels on an emulated HCA, default loops. */
  RDMA_DEFAULT(Fabric.EMULATED, false),
  /** RDMA channels on shared memory, loops that sleep. */
  SHARED(Fabric.SHARED_MEMORY, false),
  /** RDMA channels on shared memory, loops that poll. */
  SHARED_BUSY(Fabric.SHARED_MEMORY, true),
  /** RDMA channels on shared memory, default loops. */
  SHARED_DEFAULT(Fabric.SHARED_MEMORY, false);

  private enum Fabric {
    TCP,
    EPOLL,
    UNIX,
    JVM,
    EMULATED,
    SHARED_MEMORY
  }

  private static final URI HCA = URI.create("emulated://netty");
  private static final URI SHARED_HCA = URI.create("shm://verbena-bench");

  private static final WriteBufferWaterMark WATER_MARK =
      new WriteBufferWaterMark(256 << 10, 512 << 10);

  /** The size of a read by NIO, in bytes. */
  private static final int RECEIVE_SIZE = 64 << 10;

  /** The size of a receive of {@link RdmaIoHandler#newFactory(URI)}, in bytes. */
  private static final int PLAIN_RECEIVE_SIZE = 16 << 10;

  private static final int DEPTH = 32;

  private final Fabric fabric;
  private final boolean busy;

  NettyKind(Fabric fabric, boolean busy) {
    this.fabric = fabric;
    this.busy = busy;
  }

  /** Returns whether only the sender bounds the number of unreceived bytes. */
  boolean isLocal() {
    return fabric == Fabric.JVM;
  }

  /** Returns whether its channels are RDMA channels, which have an allocator of their own. */
  boolean allocates() {
    return fabric == Fabric.EMULATED || fabric == Fabric.SHARED_MEMORY;
  }

  /** Returns whether its channels take TCP's options. */
  boolean takesTcpOptions() {
    return fabric != Fabric.JVM && fabric != Fabric.UNIX;
  }

  /** Returns the factory of loops that are tuned for large messages. */
  IoHandlerFactory handler() {
    return handler(RECEIVE_SIZE);
  }

  /** Returns the factory of loops with default settings, except for the poll mode. */
  public IoHandlerFactory plainHandler() {
    return handler(PLAIN_RECEIVE_SIZE);
  }

  private IoHandlerFactory handler(int receiveSize) {
    if (this == RDMA_DEFAULT) {
      return RdmaIoHandler.newFactory(HCA);
    }
    if (this == SHARED_DEFAULT) {
      return RdmaIoHandler.newFactory(SHARED_HCA);
    }
    return switch (fabric) {
      case TCP -> busy(NioIoHandler.newFactory());
      case EPOLL, UNIX -> busy(EpollIoHandler.newFactory());
      case JVM -> busy(LocalIoHandler.newFactory());
      case EMULATED, SHARED_MEMORY ->
          RdmaIoHandler.newFactory(
              fabric == Fabric.EMULATED ? HCA : SHARED_HCA,
              RdmaOptions.builder()
                  .eagerSize(receiveSize)
                  .receiveDepth(DEPTH)
                  .sendDepth(DEPTH)
                  .pollMode(busy ? PollMode.BUSY : PollMode.EVENT)
                  .build());
    };
  }

  private IoHandlerFactory busy(IoHandlerFactory factory) {
    return busy ? BusyIoHandler.factory(factory) : factory;
  }

  /** Returns the class of channels that connect. */
  public Class<? extends Channel> channel() {
    return switch (fabric) {
      case TCP -> NioSocketChannel.class;
      case EPOLL -> EpollSocketChannel.class;
      case UNIX -> EpollDomainSocketChannel.class;
      case JVM -> LocalChannel.class;
      case EMULATED, SHARED_MEMORY -> RdmaSocketChannel.class;
    };
  }

  /** Returns the class of channels that listen. */
  public Class<? extends ServerChannel> serverChannel() {
    return switch (fabric) {
      case TCP -> NioServerSocketChannel.class;
      case EPOLL -> EpollServerSocketChannel.class;
      case UNIX -> EpollServerDomainSocketChannel.class;
      case JVM -> LocalServerChannel.class;
      case EMULATED, SHARED_MEMORY -> RdmaServerSocketChannel.class;
    };
  }

  /** Returns the address to listen on. */
  public SocketAddress address() {
    return switch (fabric) {
      case JVM -> new LocalAddress("verbena-bench");
      case UNIX ->
          new DomainSocketAddress(
              Path.of(System.getProperty("java.io.tmpdir"), "netty.socket").toFile());
      case TCP, EPOLL, EMULATED, SHARED_MEMORY -> onLoopback(0);
    };
  }

  private static SocketAddress onLoopback(int port) {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
  }

  /** Returns the text from which {@link #parse} makes this address in another process. */
  public static String format(SocketAddress address) {
    return address instanceof InetSocketAddress ip
        ? Integer.toString(ip.getPort())
        : ((DomainSocketAddress) address).path();
  }

  /** Returns the address of a listener of this kind in another process. */
  public SocketAddress parse(String address) {
    return fabric == Fabric.UNIX
        ? new DomainSocketAddress(address)
        : onLoopback(Integer.parseInt(address));
  }

  /** Returns a bootstrap, still without handler, tuned for messages of {@code size} bytes. */
  Bootstrap connector(EventLoopGroup group, int size) {
    Bootstrap connector =
        new Bootstrap()
            .group(group)
            .channel(channel())
            .option(ChannelOption.RECVBUF_ALLOCATOR, reads(size))
            .option(ChannelOption.WRITE_BUFFER_WATER_MARK, WATER_MARK);
    if (!allocates()) {
      connector.option(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT);
    }
    if (takesTcpOptions()) {
      connector.option(ChannelOption.TCP_NODELAY, true);
    }
    return connector;
  }

  /** Returns a server bootstrap, tuned like {@link #connector}. */
  ServerBootstrap acceptor(EventLoopGroup group, int size) {
    ServerBootstrap acceptor =
        new ServerBootstrap()
            .group(group)
            .channel(serverChannel())
            .childOption(ChannelOption.RECVBUF_ALLOCATOR, reads(size));
    if (!allocates()) {
      acceptor.childOption(ChannelOption.ALLOCATOR, PooledByteBufAllocator.DEFAULT);
    }
    if (takesTcpOptions()) {
      acceptor.childOption(ChannelOption.TCP_NODELAY, true);
    }
    return acceptor;
  }

  /** A local channel merges buffers up to this size by copying, and passes on larger ones. */
  private RecvByteBufAllocator reads(int size) {
    return new FixedRecvByteBufAllocator(
        isLocal() ? RECEIVE_SIZE : Math.max(4 * size, RECEIVE_SIZE));
  }
}
