// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.ServerSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.Future;
import io.netty.util.concurrent.GlobalEventExecutor;
import io.verbena.RdmaOptions;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Loops for a server and its clients on one medium, for rows of the {@link SocketTable}. */
final class SocketWorld implements AutoCloseable {
  /** The medium that channels run on. */
  enum Medium {
    NIO("TCP (NIO)", null, null),
    EMULATED("emulated://", "emulated://sockets", "emulated://sockets"),
    ROCE("roce://", "roce://" + host(63), "roce://" + host(64));

    private final String title;
    private final @Nullable URI serverHca;
    private final @Nullable URI clientHca;

    Medium(String title, @Nullable String serverHca, @Nullable String clientHca) {
      this.title = title;
      this.serverHca = serverHca == null ? null : URI.create(serverHca);
      this.clientHca = clientHca == null ? null : URI.create(clientHca);
    }

    /** Returns a loopback address that no other JVM of this machine has. */
    private static String host(int network) {
      long pid = ProcessHandle.current().pid();
      return "127.%d.%d.%d".formatted(network, pid / 255 & 0xff, pid % 255);
    }

    String title() {
      return title;
    }
  }

  private static final Duration LIMIT = Ends.LIMIT;

  /** An event that does not happen within this time counts as never. */
  private static final int SHORT_MILLIS = 300;

  private final Medium medium;
  private final EventLoopGroup servers;
  private final EventLoopGroup clients;
  private final BlockingQueue<SocketChannel> accepted = new LinkedBlockingQueue<>();
  private final ChannelGroup channels = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);

  SocketWorld(Medium medium) {
    this(medium, options());
  }

  SocketWorld(Medium medium, RdmaOptions.Builder options) {
    this.medium = medium;
    servers = new MultiThreadIoEventLoopGroup(1, loop(medium.serverHca, options.build()));
    clients = new MultiThreadIoEventLoopGroup(2, loop(medium.clientHca, options.build()));
  }

  /** Returns options with which a vanished peer is detected soon. */
  static RdmaOptions.Builder options() {
    return Ends.options().keepAlive(Duration.ofMillis(80)).operationTimeout(Duration.ofSeconds(4));
  }

  private static IoHandlerFactory loop(@Nullable URI hca, RdmaOptions options) {
    return hca == null ? NioIoHandler.newFactory() : RdmaIoHandler.newFactory(hca, options);
  }

  /** Returns another world on the same medium. */
  SocketWorld another(RdmaOptions.Builder options) {
    return new SocketWorld(medium, options);
  }

  Medium medium() {
    return medium;
  }

  EventLoopGroup servers() {
    return servers;
  }

  EventLoopGroup clients() {
    return clients;
  }

  IoHandlerFactory serverFactory() {
    return loop(medium.serverHca, options().build());
  }

  @Nullable URI clientHca() {
    return medium.clientHca;
  }

  /** Returns the server's address with any port. */
  InetSocketAddress anyPort() {
    return new InetSocketAddress(host(medium.serverHca), 0);
  }

  /** Returns the host of clients. */
  InetAddress clientHost() {
    return host(medium.clientHca);
  }

  private static InetAddress host(@Nullable URI hca) {
    try {
      return medium(hca) ? InetAddress.getByName(hca.getHost()) : InetAddress.getLoopbackAddress();
    } catch (UnknownHostException e) {
      throw new AssertionError(e);
    }
  }

  private static boolean medium(@Nullable URI hca) {
    return hca != null && "roce".equals(hca.getScheme());
  }

  Class<? extends SocketChannel> clientType() {
    return medium == Medium.NIO ? NioSocketChannel.class : RdmaSocketChannel.class;
  }

  Class<? extends ServerSocketChannel> serverType() {
    return medium == Medium.NIO ? NioServerSocketChannel.class : RdmaServerSocketChannel.class;
  }

  ServerBootstrap server(ChannelHandler handler) {
    return new ServerBootstrap()
        .group(servers)
        .channel(serverType())
        .handler(new Register())
        .childHandler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                channels.add(channel);
                channel.pipeline().addLast(handler);
                // A connection to a server of an earlier row may arrive only now.
                if (channel.parent().isOpen()) {
                  accepted.add(channel);
                } else {
                  ChannelFuture unused = channel.close();
                }
              }
            });
  }

  Bootstrap client(ChannelHandler handler) {
    return new Bootstrap()
        .group(clients)
        .channel(clientType())
        .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, (int) LIMIT.toMillis())
        .handler(
            new ChannelInitializer<SocketChannel>() {
              @Override
              protected void initChannel(SocketChannel channel) {
                channels.add(channel);
                channel.pipeline().addLast(handler);
              }
            });
  }

  /** Adds servers to the channels that the end of a row closes. */
  private final class Register extends ChannelInitializer<Channel> {
    @Override
    protected void initChannel(Channel channel) {
      channels.add(channel);
    }
  }

  /** Closes all channels at the end of a row. */
  void closeChannels() {
    channels.close().awaitUninterruptibly();
    accepted.clear();
  }

  /** Binds a server of sinks. */
  ServerSocketChannel listen() {
    return listen(server(new Sink()));
  }

  ServerSocketChannel listen(ServerBootstrap server) {
    return (ServerSocketChannel) server.bind(anyPort()).syncUninterruptibly().channel();
  }

  static SocketChannel connect(Bootstrap client, Channel to) {
    return (SocketChannel) client.connect(to.localAddress()).syncUninterruptibly().channel();
  }

  /** Returns the server's end of the next connection. */
  SocketChannel accepted() throws InterruptedException {
    SocketChannel channel = accepted.poll(LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    if (channel == null) {
      throw new AssertionError("no connection was accepted within " + LIMIT);
    }
    await().atMost(LIMIT).until(channel::isActive);
    return channel;
  }

  /** Returns a new connection whose ends count what arrives. */
  Pair pair() throws InterruptedException {
    Collector atServer = new Collector();
    Collector atClient = new Collector();
    Channel server = listen(server(atServer));
    SocketChannel client = connect(client(atClient), server);
    return new Pair(server, client, accepted(), atServer, atClient);
  }

  /** Both ends of a connection. */
  record Pair(
      Channel listener,
      SocketChannel client,
      SocketChannel server,
      Collector atServer,
      Collector atClient) {}

  static void eventually(Callable<Boolean> condition) {
    await().atMost(LIMIT).until(condition);
  }

  /** Returns whether a future that should not complete is done soon; see {@link #isDone}. */
  static boolean isDoneSoon(Future<?> future) {
    return isDone(future, false);
  }

  /**
   * Returns whether a future is done.
   *
   * @param expected whether the future should complete, and so gets the full time limit
   */
  static boolean isDone(Future<?> future, boolean expected) {
    return future.awaitUninterruptibly(expected ? LIMIT.toMillis() : SHORT_MILLIS);
  }

  /** Returns the outcome of an operation: {@code succeeds}, or the JDK class of its failure. */
  static String outcome(Future<?> operation) {
    if (!operation.awaitUninterruptibly(LIMIT.toMillis())) {
      return "hangs";
    }
    return operation.isSuccess() ? "succeeds" : name(operation.cause());
  }

  static String name(Throwable failure) {
    Class<?> type = failure.getClass();
    while (!type.getName().startsWith("java.")) {
      type = type.getSuperclass();
    }
    return type.getSimpleName();
  }

  @Override
  public void close() {
    Future<?> serversEnd = end(servers);
    end(clients).syncUninterruptibly();
    serversEnd.syncUninterruptibly();
  }

  private static Future<?> end(EventLoopGroup group) {
    return group.shutdownGracefully(0, LIMIT.toMillis(), TimeUnit.MILLISECONDS);
  }
}
