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
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;

/** Netty's transports, with loops that sleep and loops that poll. */
public enum NettyKind {
  /** TCP over loopback, loops as they come. */
  NIO(false, false),
  /** TCP over loopback, loops that poll. */
  NIO_BUSY(false, true),
  /** Buffers handed over within the JVM, loops as they come. */
  LOCAL(true, false),
  /** Buffers handed over within the JVM, loops that poll. */
  LOCAL_BUSY(true, true);

  private final boolean local;
  private final boolean busy;

  NettyKind(boolean local, boolean busy) {
    this.local = local;
    this.busy = busy;
  }

  /** Whether nothing but the sender bounds what waits to be received. */
  boolean isLocal() {
    return local;
  }

  IoHandlerFactory handler() {
    IoHandlerFactory factory = local ? LocalIoHandler.newFactory() : NioIoHandler.newFactory();
    return busy ? BusyIoHandler.factory(factory) : factory;
  }

  Class<? extends Channel> channel() {
    return local ? LocalChannel.class : NioSocketChannel.class;
  }

  Class<? extends ServerChannel> serverChannel() {
    return local ? LocalServerChannel.class : NioServerSocketChannel.class;
  }

  SocketAddress address() {
    return local
        ? new LocalAddress("verbena-bench")
        : new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }
}
