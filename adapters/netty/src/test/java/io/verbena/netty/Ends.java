// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ReflectiveChannelFactory;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.concurrent.Future;
import io.verbena.PollMode;
import io.verbena.RdmaOptions;
import io.verbena.core.testing.Addresses;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A loop for the server and a loop for clients, each with a device of its own; where HCAs have
 * addresses, at two addresses. {@link Poison} overwrites the buffers that a channel has written.
 * {@code close()} shuts both loops down, which fails if an object of their devices is still open.
 */
final class Ends implements AutoCloseable {
  /** The time limit for anything in a test. */
  static final Duration LIMIT = Addresses.within(Duration.ofSeconds(20));

  private static final Set<Integer> SHARED_PORTS = ConcurrentHashMap.newKeySet();

  private final MultiThreadIoEventLoopGroup serverLoop;
  private final MultiThreadIoEventLoopGroup clientLoop;
  private final BlockingQueue<SocketChannel> accepted = new LinkedBlockingQueue<>();

  Ends() {
    this(options());
  }

  Ends(RdmaOptions.Builder options) {
    this(options, Addresses.of("netty"), Addresses.ofAnotherHost("netty"));
  }

  Ends(RdmaOptions.Builder options, URI serverHca, URI clientHca) {
    serverLoop = loop(serverHca, options.build());
    // Loops with equal options share their device.
    Duration other = options.build().closeTimeout().plusNanos(1);
    clientLoop = loop(clientHca, options.closeTimeout(other).build());
  }

  static RdmaOptions.Builder options() {
    return RdmaOptions.builder()
        .pollMode(PollMode.EVENT)
        .eagerSize(4096)
        .closeTimeout(Addresses.within(Duration.ofSeconds(5)));
  }

  private static MultiThreadIoEventLoopGroup loop(URI hca, RdmaOptions options) {
    return new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory(hca, options));
  }

  ServerBootstrap server(Collector handler) {
    return server(() -> handler);
  }

  /** Returns a bootstrap of a server that gives each of its channels a handler. */
  ServerBootstrap server(Supplier<? extends ChannelHandler> handlers) {
    return server(RdmaServerSocketChannel.class, handlers);
  }

  /** Returns such a bootstrap for server channels of another class. */
  ServerBootstrap server(
      Class<? extends ServerChannel> type, Supplier<? extends ChannelHandler> handlers) {
    return server(new ReflectiveChannelFactory<>(type), handlers);
  }

  /** Returns such a bootstrap for server channels of a factory. */
  ServerBootstrap server(
      ChannelFactory<? extends ServerChannel> channels,
      Supplier<? extends ChannelHandler> handlers) {
    return new ServerBootstrap()
        .group(serverLoop)
        .channelFactory(channels)
        .childHandler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new Poison(), handlers.get());
                accepted.add(channel);
              }
            });
  }

  Bootstrap client(ChannelHandler handler) {
    return client(RdmaSocketChannel.class, handler);
  }

  Bootstrap client(Class<? extends Channel> type, ChannelHandler handler) {
    return client(new ReflectiveChannelFactory<>(type), handler);
  }

  /** Returns a bootstrap of a client for channels of a factory. */
  Bootstrap client(ChannelFactory<? extends Channel> channels, ChannelHandler handler) {
    return new Bootstrap()
        .group(clientLoop)
        .channelFactory(channels)
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) LIMIT.toMillis())
        .handler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                channel.pipeline().addLast(new Poison(), handler);
              }
            });
  }

  /**
   * Binds to a {@linkplain #anySharedPort shared address} that no server has had yet: the HCA,
   * which tests share, remembers the medium of an address.
   */
  static Channel bindShared(ServerBootstrap server) {
    Channel bound = server.bind(anySharedPort()).syncUninterruptibly().channel();
    int port = ((InetSocketAddress) bound.localAddress()).getPort();
    return SHARED_PORTS.add(port) ? bound : bindShared(server);
  }

  /**
   * Returns an address of the server's HCA and of sockets of this JVM alone, with any port: the
   * port is free again once its server is closed.
   */
  static InetSocketAddress anySharedPort() {
    return new InetSocketAddress(
        Addresses.areEmulated() ? ownLoopback(35) : Addresses.of("netty").getHost(), 0);
  }

  /**
   * Returns the shared address of a server. On an emulated HCA its channel reports another address.
   */
  static InetSocketAddress sharedAddress(Channel server) {
    int port = ((InetSocketAddress) server.localAddress()).getPort();
    return new InetSocketAddress(anySharedPort().getAddress(), port);
  }

  /** Returns a loopback address that no other JVM has. */
  static String ownLoopback(int second) {
    long pid = ProcessHandle.current().pid();
    return "127." + second + "." + pid / 250 % 250 + "." + (1 + pid % 250);
  }

  static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  /**
   * Closes a server at a {@linkplain #anySharedPort shared port} and waits for the port: a selector
   * releases its socket in the next turn of the loop.
   */
  static void closeServer(Channel server) {
    InetSocketAddress address = sharedAddress(server);
    server.close().syncUninterruptibly();
    awaitNoSocket(address);
  }

  /** Waits until no socket listens at an address. */
  static void awaitNoSocket(InetSocketAddress address) {
    await()
        .atMost(LIMIT)
        .ignoreException(BindException.class)
        .until(
            () -> {
              try (ServerSocket socket = new ServerSocket()) {
                socket.bind(address);
                return true;
              }
            });
  }

  static Channel bind(ServerBootstrap server) {
    return server.bind(anyPort()).syncUninterruptibly().channel();
  }

  static SocketChannel connect(Bootstrap client, Channel server) {
    return (SocketChannel) client.connect(server.localAddress()).syncUninterruptibly().channel();
  }

  /** Returns the server's end of the next connection. */
  SocketChannel accepted() throws InterruptedException {
    SocketChannel channel = accepted.poll(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    if (channel == null) {
      throw new AssertionError("no connection was accepted within " + LIMIT);
    }
    return channel;
  }

  /** Returns whether there is a connection that no {@code accepted()} has returned. */
  boolean hasAccepted() {
    return !accepted.isEmpty();
  }

  /** Closes the server's end of all connections that no {@code accepted()} has returned. */
  void closeAccepted() {
    for (SocketChannel each = accepted.poll(); each != null; each = accepted.poll()) {
      each.close().syncUninterruptibly();
    }
  }

  @Override
  public void close() {
    Future<?> serverEnd = end(serverLoop);
    end(clientLoop).syncUninterruptibly();
    serverEnd.syncUninterruptibly();
  }

  private static Future<?> end(MultiThreadIoEventLoopGroup loop) {
    return loop.shutdownGracefully(0, LIMIT.toMillis(), TimeUnit.MILLISECONDS);
  }
}
