// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFactory;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.ServerChannel;
import io.netty.channel.epoll.EpollDatagramChannel;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.DatagramPacket;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioDatagramChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUringDatagramChannel;
import io.netty.channel.uring.IoUringServerSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.verbena.core.testing.Addresses;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests sockets of a chosen kind on the loops of {@link RdmaSockets}. */
@Tag("once")
class SocketKindTest {
  private static final String HOST = "localhost";
  private static final URI NO_HCA = URI.create("disni://127.0.0.1");

  private final List<RdmaSockets> opened = new ArrayList<>();
  private final BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();

  @AfterEach
  void close() {
    opened.forEach(RdmaSockets::close);
  }

  private static RdmaSockets.Builder builder(URI hca, SocketKind kind) {
    SocketKinds.assumeAvailable(kind);
    return RdmaSockets.builder(hca).loops(1).options(Ends.options().build()).sockets(kind);
  }

  private static RdmaSockets.Builder builder(SocketKind kind) {
    return builder(Addresses.of("netty"), kind);
  }

  private RdmaSockets open(RdmaSockets.Builder builder) {
    RdmaSockets sockets = builder.build();
    opened.add(sockets);
    return sockets;
  }

  private static Class<? extends SocketChannel> clientOf(SocketKind kind) {
    return switch (kind) {
      case NIO -> NioSocketChannel.class;
      case EPOLL -> EpollSocketChannel.class;
      case IO_URING -> IoUringSocketChannel.class;
    };
  }

  private static Class<? extends ServerChannel> serverOf(SocketKind kind) {
    return switch (kind) {
      case NIO -> NioServerSocketChannel.class;
      case EPOLL -> EpollServerSocketChannel.class;
      case IO_URING -> IoUringServerSocketChannel.class;
    };
  }

  private static Class<? extends DatagramChannel> datagramsOf(SocketKind kind) {
    return switch (kind) {
      case NIO -> NioDatagramChannel.class;
      case EPOLL -> EpollDatagramChannel.class;
      case IO_URING -> IoUringDatagramChannel.class;
    };
  }

  private Channel bind(ServerBootstrap server, Echo echo) {
    return server
        .childHandler(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                accepted.add(channel);
                channel.pipeline().addLast(echo);
              }
            })
        .bind(HOST, 0)
        .syncUninterruptibly()
        .channel();
  }

  /** Binds a server as on a host without RDMA. */
  private Channel bindTcp(RdmaSockets sockets, SocketKind kind, Echo echo) {
    return bind(new ServerBootstrap().group(sockets.group()).channel(serverOf(kind)), echo);
  }

  private static Channel connect(Bootstrap client, Channel server) {
    return client
        .connect(HOST, ((InetSocketAddress) server.localAddress()).getPort())
        .syncUninterruptibly()
        .channel();
  }

  private static Channel connect(RdmaSockets sockets, Channel server, Echo echo) {
    return connect(sockets.on(new Bootstrap()).handler(echo), server);
  }

  private static Channel bindDatagrams(RdmaSockets sockets, Echo echo) {
    return new Bootstrap()
        .group(sockets.group())
        .channelFactory((ChannelFactory<Channel>) sockets::newDatagramChannel)
        .handler(echo)
        .bind(Ends.anyPort())
        .syncUninterruptibly()
        .channel();
  }

  private static String mediumOf(Channel channel) {
    return channel.attr(AutoSocketChannel.MEDIUM).get();
  }

  private static Channel carrierOf(Channel channel) {
    return requireNonNull(((AutoSocketChannel) channel).carrier());
  }

  private static void assertThatTheyExchange(Channel client, Echo echo) throws Exception {
    CountDownLatch exchanged = echo.await(20);
    Echo.start(client);
    awaitZero(exchanged);
  }

  private static void awaitZero(CountDownLatch latch) throws InterruptedException {
    assertThat(latch.await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void orTcpReachesAServerWithoutRdmaOverSocketsOfTheKind(SocketKind kind) throws Exception {
    RdmaSockets sockets = open(builder(kind).orTcp(Addresses.timeForRdma()));
    Echo echo = new Echo();

    Channel client = connect(sockets, bindTcp(sockets, kind, new Echo()), echo);

    assertThat(mediumOf(client)).isEqualTo(AutoSocketChannel.TCP);
    assertThat(carrierOf(client)).isExactlyInstanceOf(clientOf(kind));
    assertThatTheyExchange(client, echo);
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void orTcpAcceptsClientsWithoutRdmaOverSocketsOfTheKind(SocketKind kind) throws Exception {
    RdmaSockets sockets = open(builder(kind).orTcp(Addresses.timeForRdma()));
    Channel server = bind(sockets.on(new ServerBootstrap()), new Echo());
    Echo echo = new Echo();

    Channel client =
        connect(
            new Bootstrap().group(sockets.group()).channel(clientOf(kind)).handler(echo), server);

    Channel other = accepted.poll(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    assertThat(other).isExactlyInstanceOf(clientOf(kind));
    assertThat(mediumOf(requireNonNull(other))).isEqualTo(AutoSocketChannel.TCP);
    assertThat(other.parent()).isExactlyInstanceOf(serverOf(kind));
    assertThatTheyExchange(client, echo);
  }

  /** Frameworks that take no factory create channels with the constructor without parameters. */
  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void channelsByTheirClassHaveSocketsOfTheKindToo(SocketKind kind) throws Exception {
    RdmaSockets sockets = open(builder(NO_HCA, kind).orTcp());
    Channel server =
        bind(
            new ServerBootstrap().group(sockets.group()).channel(sockets.serverChannelType()),
            new Echo());
    Echo echo = new Echo();

    Channel client =
        connect(
            new Bootstrap().group(sockets.group()).channel(sockets.channelType()).handler(echo),
            server);

    assertThat(carrierOf(client)).isExactlyInstanceOf(clientOf(kind));
    assertThatTheyExchange(client, echo);
    assertThat(accepted.poll(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS))
        .isExactlyInstanceOf(clientOf(kind));
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void rdmaTcpAndDatagramsAreOnOneThread(SocketKind kind) throws Exception {
    RdmaSockets sockets = open(builder(kind).orTcp(Addresses.timeForRdma()));
    Echo rdma = new Echo();
    Echo tcp = new Echo();
    Echo datagrams = new Echo();

    Channel overRdma = connect(sockets, bind(sockets.on(new ServerBootstrap()), new Echo()), rdma);
    assertThat(mediumOf(overRdma)).isEqualTo(Addresses.scheme());
    assertThatTheyExchange(overRdma, rdma);
    assertThatTheyExchange(connect(sockets, bindTcp(sockets, kind, new Echo()), tcp), tcp);
    Channel peer = bindDatagrams(sockets, new Echo());
    assertThat(peer).isExactlyInstanceOf(datagramsOf(kind));
    CountDownLatch exchanged = datagrams.await(20);
    bindDatagrams(sockets, datagrams)
        .writeAndFlush(
            new DatagramPacket(
                Unpooled.wrappedBuffer(new byte[1]), (InetSocketAddress) peer.localAddress()))
        .syncUninterruptibly();
    awaitZero(exchanged);

    assertThat(rdma.threads).hasSize(1).isEqualTo(tcp.threads).isEqualTo(datagrams.threads);
  }

  /** Even without TCP the loops have datagram sockets, which a DNS client uses. */
  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void rdmaAloneHasDatagramsOfTheKind(SocketKind kind) throws Exception {
    RdmaSockets sockets = open(builder(kind));
    Echo datagrams = new Echo();
    Channel peer = bindDatagrams(sockets, new Echo());

    CountDownLatch exchanged = datagrams.await(20);
    bindDatagrams(sockets, datagrams)
        .writeAndFlush(
            new DatagramPacket(
                Unpooled.wrappedBuffer(new byte[1]), (InetSocketAddress) peer.localAddress()))
        .syncUninterruptibly();

    awaitZero(exchanged);
    assertThat(peer).isExactlyInstanceOf(datagramsOf(kind));
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void theSocketGetsTheOptionsOfTheChannel(SocketKind kind) {
    RdmaSockets sockets = open(builder(kind).orTcp(Addresses.timeForRdma()));

    Channel client =
        connect(
            sockets
                .on(new Bootstrap())
                .option(ChannelOption.SO_KEEPALIVE, true)
                .option(ChannelOption.AUTO_READ, false)
                .handler(new Echo()),
            bindTcp(sockets, kind, new Echo()));

    assertThat(carrierOf(client).config().getOption(ChannelOption.SO_KEEPALIVE)).isTrue();
    assertThat(carrierOf(client).config().isAutoRead()).isFalse();
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void aLoopTakesNoSocketsOfAnotherKind(SocketKind kind) {
    SocketKind another = kind == SocketKind.NIO ? SocketKind.EPOLL : SocketKind.NIO;
    SocketKinds.assumeAvailable(another);
    RdmaSockets sockets = open(builder(kind));
    Channel channel = another.factory().datagrams().newChannel();

    assertThat(sockets.group().register(channel).awaitUninterruptibly().cause())
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("incompatible event loop");
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void aConnectFailsWhereNobodyListens(SocketKind kind) {
    RdmaSockets sockets = open(builder(kind).orTcp(Addresses.timeForRdma()));
    Channel server =
        new ServerBootstrap()
            .group(sockets.group())
            .channel(serverOf(kind))
            .childHandler(new Echo())
            .bind(Ends.anySharedPort())
            .syncUninterruptibly()
            .channel();
    InetSocketAddress gone = (InetSocketAddress) server.localAddress();
    Ends.closeServer(server);

    Throwable failure =
        sockets
            .on(new Bootstrap())
            .handler(new Echo())
            .connect(gone)
            .awaitUninterruptibly()
            .cause();

    assertThat(failure).isInstanceOf(ConnectException.class);
  }

  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void allCloseWhileTheyAreBusy(SocketKind kind) throws Exception {
    RdmaSockets sockets = open(builder(kind).orTcp(Addresses.timeForRdma()));
    Channel both = bind(sockets.on(new ServerBootstrap()), new Echo());
    Channel tcp = bindTcp(sockets, kind, new Echo());
    List<Channel> channels = new ArrayList<>(List.of(both, tcp));
    for (int i = 0; i < 8; i++) {
      Echo echo = new Echo();
      Channel client = connect(sockets, i % 2 == 0 ? both : tcp, echo);
      channels.add(client);
      assertThatTheyExchange(client, echo);
    }

    sockets.close();

    assertThat(channels).noneMatch(Channel::isOpen);
    assertThat(sockets.group().isTerminated()).isTrue();
    await().atMost(Ends.LIMIT).until(() -> accepted.stream().noneMatch(Channel::isOpen));
  }

  @Test
  void nioIsTheDefault() {
    RdmaSockets sockets = open(RdmaSockets.builder(Addresses.of("netty")).loops(1).orTcp());

    assertThat(SocketKind.NIO.isAvailable()).isTrue();
    Channel made = bindDatagrams(sockets, new Echo());
    assertThat(made).isExactlyInstanceOf(NioDatagramChannel.class);
    assertThat(sockets).hasToString("RdmaSockets[" + Addresses.of("netty") + ", or TCP]");
  }
}
