package io.verbena.benchmarks.peers;

import io.netty.channel.Channel;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.local.LocalAddress;
import io.netty.channel.local.LocalChannel;
import io.netty.channel.local.LocalIoHandler;
import io.netty.channel.local.LocalServerChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.netty.RdmaIoHandler;
import io.verbena.netty.RdmaServerSocketChannel;
import io.verbena.netty.RdmaSocketChannel;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;

/** Netty's transports and ours, with loops that sleep and loops that poll. */
public enum NettyKind {
  /** TCP over loopback, loops as they come. */
  NIO(Fabric.TCP, false),
  /** TCP over loopback, loops that poll. */
  NIO_BUSY(Fabric.TCP, true),
  /** Buffers handed over within the JVM, loops as they come. */
  LOCAL(Fabric.JVM, false),
  /** Buffers handed over within the JVM, loops that poll. */
  LOCAL_BUSY(Fabric.JVM, true),
  /** RDMA channels on an emulated HCA, loops that sleep. */
  RDMA(Fabric.EMULATED, false),
  /** RDMA channels on an emulated HCA, loops that poll. */
  RDMA_BUSY(Fabric.EMULATED, true);

  private enum Fabric {
    TCP,
    JVM,
    EMULATED
  }

  private static final URI HCA = URI.create("emulated://netty");

  /** As large as what NIO is given to read at once. */
  private static final int RECEIVE_SIZE = 64 << 10;

  private final Fabric fabric;
  private final boolean busy;

  NettyKind(Fabric fabric, boolean busy) {
    this.fabric = fabric;
    this.busy = busy;
  }

  /** Whether nothing but the sender bounds what waits to be received. */
  boolean isLocal() {
    return fabric == Fabric.JVM;
  }

  /** Whether its channels have an allocator of their own. */
  boolean allocates() {
    return fabric == Fabric.EMULATED;
  }

  IoHandlerFactory handler() {
    return switch (fabric) {
      case TCP -> busy(NioIoHandler.newFactory());
      case JVM -> busy(LocalIoHandler.newFactory());
      case EMULATED ->
          RdmaIoHandler.newFactory(
              HCA,
              RdmaOptions.defaults()
                  .eagerSize(RECEIVE_SIZE)
                  .pollMode(busy ? PollMode.BUSY : PollMode.EVENT));
    };
  }

  private IoHandlerFactory busy(IoHandlerFactory factory) {
    return busy ? BusyIoHandler.factory(factory) : factory;
  }

  Class<? extends Channel> channel() {
    return switch (fabric) {
      case TCP -> NioSocketChannel.class;
      case JVM -> LocalChannel.class;
      case EMULATED -> RdmaSocketChannel.class;
    };
  }

  Class<? extends ServerChannel> serverChannel() {
    return switch (fabric) {
      case TCP -> NioServerSocketChannel.class;
      case JVM -> LocalServerChannel.class;
      case EMULATED -> RdmaServerSocketChannel.class;
    };
  }

  SocketAddress address() {
    return isLocal()
        ? new LocalAddress("verbena-bench")
        : new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }
}
