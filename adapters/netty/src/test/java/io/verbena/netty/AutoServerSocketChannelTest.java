// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelConfig;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioChannelOption;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.NetUtil;
import io.verbena.core.testing.Addresses;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.channels.AlreadyBoundException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests servers that listen over RDMA and TCP at one port. */
@Tag("once")
class AutoServerSocketChannelTest {
  private static final int SHORT_MILLIS = 200;

  private static ServerBootstrap server(Ends ends) {
    return ends.server(AutoServerSocketChannel.class, Collector::new);
  }

  private static Channel bind(ServerBootstrap server) {
    return Ends.bindShared(server);
  }

  /**
   * Binds over one medium, at a port that is also free on the other: each medium has its own ports.
   */
  private static Channel bindAlone(Ends ends, Class<? extends ServerChannel> type) {
    Channel both = bind(server(ends));
    Ends.closeServer(both);
    return ends.server(type, Collector::new)
        .bind(both.localAddress())
        .syncUninterruptibly()
        .channel();
  }

  private static Throwable causeOf(ChannelFuture binding) {
    assertThat(binding.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
    assertThat(binding.channel().isActive()).isFalse();
    return binding.cause();
  }

  @Test
  void takesClientsOfBothKindsAtOnePort() throws Exception {
    try (Ends ends = new Ends()) {
      Channel server = bind(server(ends));

      SocketChannel rdma = Ends.connect(ends.client(new Collector()), server);
      SocketChannel overRdma = ends.accepted();
      SocketChannel tcp =
          Ends.connect(ends.client(NioSocketChannel.class, new Collector()), server);
      SocketChannel overTcp = ends.accepted();

      assertThat(overRdma).isInstanceOf(RdmaSocketChannel.class);
      assertThat(overRdma.attr(AutoSocketChannel.MEDIUM).get()).isEqualTo(Addresses.scheme());
      assertThat(overRdma.remoteAddress()).isEqualTo(rdma.localAddress());
      assertThat(overTcp.attr(AutoSocketChannel.MEDIUM).get()).isEqualTo(AutoSocketChannel.TCP);
      assertThat(overTcp.remoteAddress()).isEqualTo(tcp.localAddress());
    }
  }

  /** The same holds for a server of RDMA alone. */
  @Test
  void takesNoClientOverRdmaFromWhenItsProgramWantsNoMore() throws Exception {
    try (Ends ends = new Ends()) {
      for (Class<? extends ServerChannel> type :
          List.of(RdmaServerSocketChannel.class, AutoServerSocketChannel.class)) {
        Channel server = bind(ends.server(type, Collector::new));
        Ends.connect(ends.client(new Collector()), server);
        assertThat(ends.accepted().isOpen()).isTrue();

        server.config().setAutoRead(false);
        ChannelFuture connecting = ends.client(new Collector()).connect(server.localAddress());

        assertThat(connecting.awaitUninterruptibly(SHORT_MILLIS)).isFalse();
        server.config().setAutoRead(true);
        assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
        assertThat(connecting.isSuccess()).isTrue();
        assertThat(ends.accepted().isOpen()).isTrue();
      }
    }
  }

  @Test
  void takesAPortThatBothHave() {
    try (Ends ends = new Ends()) {
      for (int i = 0; i < 20; i++) {
        Channel server = bind(server(ends));

        int port = ((InetSocketAddress) server.localAddress()).getPort();
        assertThat(port).isPositive();
        assertThat(
                causeOf(
                    ends.server(new Collector())
                        .bind(new InetSocketAddress(Ends.anySharedPort().getAddress(), port))))
            .isInstanceOf(BindException.class);
      }
    }
  }

  /** A client that comes during a restart could find only TCP, and would stay with TCP. */
  @Test
  void listensOverRdmaBeforeItListensOverTcp() {
    try (Ends ends = new Ends()) {
      Channel before = bind(server(ends));
      Ends.closeServer(before);
      AtomicReference<Throwable> overRdma = new AtomicReference<>();
      class Socket extends NioServerSocketChannel {
        @Override
        protected void doBind(SocketAddress local) throws Exception {
          super.doBind(local);
          Channel another = new RdmaServerSocketChannel();
          eventLoop().register(another).sync();
          ChannelPromise bound = another.newPromise();
          another.unsafe().bind(local, bound);
          overRdma.set(bound.cause());
          another.unsafe().closeForcibly();
        }
      }

      ends.server(() -> new AutoServerSocketChannel(Socket::new), Collector::new)
          .bind(before.localAddress())
          .syncUninterruptibly();

      assertThat(overRdma.get())
          .isInstanceOf(BindException.class)
          .hasMessageStartingWith("Address already in use");
    }
  }

  @Test
  void bindsBothOrNone() {
    try (Ends ends = new Ends()) {
      Channel rdma = bindAlone(ends, RdmaServerSocketChannel.class);
      Channel tcp = bindAlone(ends, NioServerSocketChannel.class);
      InetSocketAddress ofRdma = Ends.sharedAddress(rdma);

      Throwable overRdma = causeOf(server(ends).bind(ofRdma));
      Throwable overTcp = causeOf(server(ends).bind(tcp.localAddress()));

      assertThat(overRdma)
          .isInstanceOf(BindException.class)
          .hasMessageStartingWith(Addresses.scheme() + ": Address already in use");
      assertThat(overTcp)
          .isInstanceOf(BindException.class)
          .hasMessageStartingWith("tcp: Address already in use");
      Ends.closeServer(rdma);
      Ends.closeServer(tcp);
      assertThat(server(ends).bind(ofRdma).syncUninterruptibly().isSuccess()).isTrue();
      assertThat(server(ends).bind(tcp.localAddress()).syncUninterruptibly().isSuccess()).isTrue();
    }
  }

  /** As with a server of sockets. */
  @Test
  void bindsOnce() {
    try (Ends ends = new Ends()) {
      Channel server = bind(server(ends));
      SocketAddress bound = server.localAddress();

      assertThat(server.bind(Ends.anySharedPort()).awaitUninterruptibly().cause())
          .isInstanceOf(AlreadyBoundException.class);

      assertThat(server.localAddress()).isEqualTo(bound);
      assertThat(Ends.connect(ends.client(new Collector()), server).isActive()).isTrue();
    }
  }

  @Test
  void refusesAHostThatIsNotResolved() {
    try (Ends ends = new Ends()) {
      Throwable cause =
          causeOf(server(ends).bind(InetSocketAddress.createUnresolved("storage-9", 7000)));

      assertThat(cause)
          .isInstanceOf(BindException.class)
          .hasMessageContaining("storage-9")
          .hasMessageEndingWith(":7000: its host is not resolved");
    }
  }

  @Test
  void closesBoth() {
    try (Ends ends = new Ends()) {
      Channel server = bind(server(ends));

      Ends.closeServer(server);

      assertThat(server.isOpen()).isFalse();
      for (Class<? extends Channel> each :
          List.of(RdmaSocketChannel.class, NioSocketChannel.class)) {
        assertThat(
                ends.client(each, new Collector())
                    .connect(server.localAddress())
                    .awaitUninterruptibly()
                    .cause())
            .isInstanceOf(ConnectException.class);
      }
      assertThat(server(ends).bind(server.localAddress()).syncUninterruptibly().isSuccess())
          .isTrue();
    }
  }

  @Test
  void acceptsNobodyUntilItReads() {
    try (Ends ends = new Ends()) {
      Channel server = bind(server(ends).option(ChannelOption.AUTO_READ, false));
      ChannelFuture rdma = ends.client(new Collector()).connect(server.localAddress());
      Channel tcp = Ends.connect(ends.client(NioSocketChannel.class, new Collector()), server);
      assertThat(rdma.awaitUninterruptibly(200)).isFalse();
      assertThat(ends.hasAccepted()).isFalse();

      server.config().setAutoRead(true);

      assertThat(rdma.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      await().atMost(Ends.LIMIT).until(ends::hasAccepted);
      assertThat(tcp.isActive()).isTrue();
    }
  }

  @Test
  void doesNotListenOverTcpForThoseThatAHookOrALimitRefuses() {
    try (Ends ends = new Ends()) {
      Throwable hook =
          causeOf(
              server(ends)
                  .option(
                      RdmaChannelOption.ACCEPT_HOOK,
                      request -> {
                        throw new AssertionError("nobody connects");
                      })
                  .bind(Ends.anySharedPort()));
      Throwable limit =
          causeOf(
              server(ends).option(RdmaChannelOption.MAX_CONNECTIONS, 1).bind(Ends.anySharedPort()));

      assertThat(hook).isInstanceOf(BindException.class).hasMessageStartingWith("ACCEPT_HOOK: set");
      assertThat(limit)
          .isInstanceOf(BindException.class)
          .hasMessageStartingWith("MAX_CONNECTIONS: set");
    }
  }

  @Test
  void namesTheOptionsOfItsSocket() {
    try (Ends ends = new Ends()) {
      ChannelOption<Integer> ofSockets = NioChannelOption.of(StandardSocketOptions.SO_RCVBUF);
      Channel server = bind(server(ends));

      server.config().setOption(ofSockets, 10_000);

      assertThat(server.config().getOption(ofSockets)).isPositive();
    }
  }

  @Test
  void takesNoHookOrLimitOnceItListensOverTcp() {
    try (Ends ends = new Ends()) {
      ChannelConfig config = bind(server(ends)).config();
      String reason = ": set (expected: not with TCP, which does not know it)";

      assertThatThrownBy(
              () ->
                  config.setOption(
                      RdmaChannelOption.ACCEPT_HOOK,
                      request -> {
                        throw new AssertionError("nobody connects");
                      }))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("ACCEPT_HOOK" + reason);
      assertThatThrownBy(() -> config.setOption(RdmaChannelOption.MAX_CONNECTIONS, 10))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("MAX_CONNECTIONS" + reason);
      assertThatThrownBy(() -> config.setOption(RdmaChannelOption.MAX_CONNECTIONS_PER_PEER, 1))
          .isInstanceOf(IllegalStateException.class)
          .hasMessage("MAX_CONNECTIONS_PER_PEER" + reason);
      assertThat(config.getOption(RdmaChannelOption.MAX_CONNECTIONS)).isEqualTo(Integer.MAX_VALUE);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 7471})
  void refusesTheAddressOfAnHcaThatListensOnPortsOfTcpItself(int port) {
    String host = Ends.ownLoopback(33);
    MultiThreadIoEventLoopGroup loop =
        new MultiThreadIoEventLoopGroup(1, AutoIoHandler.newFactory(URI.create("iwarp://" + host)));
    try {
      ServerBootstrap server =
          new ServerBootstrap()
              .group(loop)
              .channel(AutoServerSocketChannel.class)
              .childHandler(new Collector());
      InetSocketAddress itsOwn = new InetSocketAddress(host, port);
      InetSocketAddress any = new InetSocketAddress(port);

      Throwable atItsOwn = causeOf(server.bind(itsOwn));
      Throwable atAny = causeOf(server.bind(any));

      String reason =
          ": iwarp:// and TCP both listen on this TCP port (expected: iwarp:// without orTcp(), or"
              + " orTcp() with roce:// or an RNIC)";
      assertThat(atItsOwn)
          .isInstanceOf(BindException.class)
          .hasMessage("iwarp: " + host + ":" + port + reason);
      assertThat(atAny)
          .isInstanceOf(BindException.class)
          .hasMessage("iwarp: " + NetUtil.toSocketAddressString(any) + reason);
    } finally {
      loop.shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)
          .syncUninterruptibly();
    }
  }

  @Test
  void listensOnOnePortAtTheAddressOfAnIwarpHcaAndOverTcpAtAnother() {
    MultiThreadIoEventLoopGroup loop =
        new MultiThreadIoEventLoopGroup(
            1, AutoIoHandler.newFactory(URI.create("iwarp://" + Ends.ownLoopback(34))));
    try {
      ChannelFuture bound =
          new ServerBootstrap()
              .group(loop)
              .channel(AutoServerSocketChannel.class)
              .childHandler(new Collector())
              .bind(Ends.anyPort());

      assertThat(bound.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(bound.cause()).isNull();
    } finally {
      loop.shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)
          .syncUninterruptibly();
    }
  }

  @Test
  void tcpDoesNotTakeThePlaceOfALockedWire(@TempDir Path folder) throws Exception {
    Path key = Files.write(folder.resolve("key"), new byte[32]);
    URI hca = URI.create("roce://" + Ends.ownLoopback(32) + "?key-file=" + key);
    MultiThreadIoEventLoopGroup loop =
        new MultiThreadIoEventLoopGroup(1, AutoIoHandler.newFactory(hca));
    try {
      ChannelFuture bound =
          new ServerBootstrap()
              .group(loop)
              .channel(AutoServerSocketChannel.class)
              .childHandler(new Collector())
              .bind(Ends.anyPort());
      assertThat(causeOf(bound))
          .isInstanceOf(BindException.class)
          .hasMessageContaining("TCP has no keys");

      ChannelFuture connecting =
          new Bootstrap()
              .group(loop)
              .channel(AutoSocketChannel.class)
              .handler(new Collector())
              .connect("127.0.0.1", 1);
      assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(connecting.cause()).hasMessageContaining("TCP has no keys");
    } finally {
      loop.shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)
          .syncUninterruptibly();
    }
  }

  @Test
  void allIsOverTcpOnAHostWithoutAnHca() throws Exception {
    MultiThreadIoEventLoopGroup loop =
        new MultiThreadIoEventLoopGroup(
            1, AutoIoHandler.newFactory(URI.create("nowhere://10.0.0.1")));
    try {
      Channel server =
          new ServerBootstrap()
              .group(loop)
              .channel(AutoServerSocketChannel.class)
              .childHandler(new Echo())
              .bind(Ends.anyPort())
              .syncUninterruptibly()
              .channel();
      Collector received = new Collector();

      Channel client =
          new Bootstrap()
              .group(loop)
              .channel(AutoSocketChannel.class)
              .handler(received)
              .connect(server.localAddress())
              .syncUninterruptibly()
              .channel();
      client.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == 10);
      assertThat(client.attr(AutoSocketChannel.MEDIUM).get()).isEqualTo(AutoSocketChannel.TCP);
    } finally {
      loop.shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)
          .syncUninterruptibly();
    }
  }

  @Test
  void endsWithItsLoops() {
    Channel server;
    Channel client;
    try (Ends ends = new Ends()) {
      server = bind(server(ends));
      client = Ends.connect(ends.client(AutoSocketChannel.class, new Collector()), server);
    }

    assertThat(server.isOpen()).isFalse();
    assertThat(client.isOpen()).isFalse();
  }

  @Test
  void endsWithItsLoopsThoughItWasNeverBound() {
    Channel server;
    try (Ends ends = new Ends()) {
      server = server(ends).register().syncUninterruptibly().channel();
      // Without a quiet period Netty may end a busy loop before the loop closes its channels.
      server
          .eventLoop()
          .parent()
          .shutdownGracefully(100, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)
          .syncUninterruptibly();
    }

    assertThat(server.isOpen()).isFalse();
    assertThat(server.closeFuture().isDone()).isTrue();
  }
}
