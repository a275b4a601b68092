// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ConnectTimeoutException;
import io.netty.channel.socket.SocketChannel;
import java.net.BindException;
import java.net.ConnectException;
import java.net.SocketAddress;
import java.nio.channels.AlreadyBoundException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Tests how connections are established and how connects fail. */
class ConnectingTest {
  private static final int SHORT_MILLIS = 300;

  @Test
  void connectWaitsUntilTheServerReads() {
    try (Ends ends = new Ends()) {
      Channel server =
          Ends.bind(ends.server(new Collector()).option(ChannelOption.AUTO_READ, false));
      ChannelFuture connecting = ends.client(new Collector()).connect(server.localAddress());
      assertThat(connecting.awaitUninterruptibly(SHORT_MILLIS)).isFalse();

      server.read();

      connecting.syncUninterruptibly();
      assertThat(connecting.channel().isActive()).isTrue();
    }
  }

  @Test
  void connectEndsWithItsTime() {
    try (Ends ends = new Ends()) {
      Channel server =
          Ends.bind(ends.server(new Collector()).option(ChannelOption.AUTO_READ, false));

      ChannelFuture connecting =
          ends.client(new Collector())
              .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, SHORT_MILLIS)
              .connect(server.localAddress());

      assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(connecting.cause())
          .isInstanceOf(ConnectException.class)
          .satisfiesAnyOf(
              cause -> assertThat(cause).isInstanceOf(ConnectTimeoutException.class),
              cause -> assertThat(cause).hasMessageContaining("UNREACHABLE"))
          .hasMessageContaining("is an HCA at that address, and does it listen?");
      assertThat(connecting.channel().closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis()))
          .isTrue();
    }
  }

  @Test
  void aConnectThatIsCancelledClosesItsChannel() {
    try (Ends ends = new Ends()) {
      Channel server =
          Ends.bind(ends.server(new Collector()).option(ChannelOption.AUTO_READ, false));
      ChannelFuture connecting = ends.client(new Collector()).connect(server.localAddress());
      assertThat(connecting.awaitUninterruptibly(SHORT_MILLIS)).isFalse();

      assertThat(connecting.cancel(true)).isTrue();

      assertThat(connecting.channel().closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis()))
          .isTrue();
    }
  }

  @Test
  void aClientThatGoesBeforeItIsAcceptedIsNoFailureOfTheServer() throws Exception {
    try (Ends ends = new Ends()) {
      RdmaServerSocketChannel server =
          (RdmaServerSocketChannel)
              Ends.bind(ends.server(new Collector()).option(ChannelOption.AUTO_READ, false));
      ChannelFuture connecting = ends.client(new Collector()).connect(server.localAddress());
      await().atMost(Ends.LIMIT).until(() -> server.connectionsTaken() == 1);
      assertThat(connecting.isDone()).isFalse();
      assertThat(connecting.cancel(true)).isTrue();
      assertThat(connecting.channel().closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis()))
          .isTrue();

      server.read();

      // The channel's initializer runs only if the channel could be registered.
      assertThat(ends.accepted().closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis()))
          .isTrue();
    }
  }

  @Test
  void aServerThatIsClosedTurnsAwayWhoWaits() {
    try (Ends ends = new Ends()) {
      Channel server =
          Ends.bind(ends.server(new Collector()).option(ChannelOption.AUTO_READ, false));
      ChannelFuture connecting = ends.client(new Collector()).connect(server.localAddress());
      assertThat(connecting.awaitUninterruptibly(SHORT_MILLIS)).isFalse();

      server.close().syncUninterruptibly();

      assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(connecting.cause()).isInstanceOf(ConnectException.class);
    }
  }

  /** A closed socket does so with its backlog: objects that the channels need may be gone. */
  @Test
  void aServerThatIsClosedSetsUpNoChannelThatIsNotYetConnected() throws Exception {
    AtomicInteger setUp = new AtomicInteger();
    AtomicReference<RdmaSocketChannel> pending = new AtomicReference<>();
    try (Ends ends = new Ends()) {
      Channel server =
          Ends.bind(
              ends.server(
                      () -> {
                        setUp.incrementAndGet();
                        return new Collector();
                      })
                  .handler(
                      new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext context, Object child) {
                          pending.set((RdmaSocketChannel) child);
                          context.fireChannelRead(child);
                          ChannelFuture unused = context.close();
                        }
                      }));

      ChannelFuture connecting = ends.client(new Collector()).connect(server.localAddress());

      assertThat(connecting.channel().closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis()))
          .isTrue();
      assertThat(setUp).hasValue(0);
      RdmaIoHandler loop = requireNonNull(pending.get().handler());
      await()
          .atMost(Ends.LIMIT)
          .until(() -> server.eventLoop().submit(loop::registrations).get() == 0);
    }
  }

  @Test
  void anAddressIsListenedOnOnce() {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(new Collector()));

      assertThatThrownBy(
              () -> ends.server(new Collector()).bind(server.localAddress()).syncUninterruptibly())
          .isInstanceOf(BindException.class);

      server.close().syncUninterruptibly();
      Channel again =
          ends.server(new Collector()).bind(server.localAddress()).syncUninterruptibly().channel();
      assertThat(again.isActive()).isTrue();
    }
  }

  /** As with a socket. */
  @Test
  void aServerIsBoundOnce() {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      SocketAddress bound = server.localAddress();

      assertThat(server.bind(Ends.anyPort()).awaitUninterruptibly().cause())
          .isInstanceOf(AlreadyBoundException.class);

      assertThat(server.localAddress()).isEqualTo(bound);
      assertThat(Ends.connect(ends.client(new Collector()), server).isActive()).isTrue();
    }
  }

  /** As with a socket, 0 means the default. */
  @Test
  void aServerWithABacklogOfZeroIsConnectedTo() {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(new Collector()).option(ChannelOption.SO_BACKLOG, 0));

      assertThat(server.config().getOption(ChannelOption.SO_BACKLOG)).isPositive();
      assertThat(Ends.connect(ends.client(new Collector()), server).isActive()).isTrue();
    }
  }

  @Test
  void addressesTellConnectionsApart() throws Exception {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      SocketChannel one = Ends.connect(ends.client(new Collector()), server);
      SocketChannel other = Ends.connect(ends.client(new Collector()), server);
      SocketChannel first = ends.accepted();
      SocketChannel second = ends.accepted();

      assertThat(one.localAddress()).isNotEqualTo(other.localAddress());
      assertThat(one.remoteAddress()).isEqualTo(server.localAddress());
      assertThat(List.of(first.remoteAddress(), second.remoteAddress()))
          .containsExactlyInAnyOrder(one.localAddress(), other.localAddress());
    }
  }

  @Test
  void manyConnectAtOnce() {
    int count = 200;
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      List<ChannelFuture> connecting = new ArrayList<>();
      for (int i = 0; i < count; i++) {
        connecting.add(ends.client(new Collector()).connect(server.localAddress()));
      }
      for (ChannelFuture each : connecting) {
        each.syncUninterruptibly();
      }
      await()
          .atMost(Ends.LIMIT)
          .until(() -> connecting.stream().allMatch(each -> each.channel().isActive()));
    }
  }
}
