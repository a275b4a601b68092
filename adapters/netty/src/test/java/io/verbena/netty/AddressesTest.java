// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.socket.SocketChannel;
import io.netty.util.NetUtil;
import io.verbena.RdmaOptions;
import io.verbena.core.testing.Addresses;
import java.lang.ref.WeakReference;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.net.URI;
import java.nio.channels.UnresolvedAddressException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests the peer's address of a channel, and which HCA an address selects. */
class AddressesTest {
  /** An address of a network for documentation (RFC 5737), which no machine has. */
  private static final String NOBODYS = "192.0.2.1";

  /**
   * Returns an HCA address that no other JVM of this machine has; {@code network} sets a byte of
   * it.
   */
  private static URI hca(int network) {
    long pid = ProcessHandle.current().pid();
    return URI.create("roce://127.%d.%d.%d".formatted(network, pid / 255 & 0xff, pid % 255));
  }

  /** As with a socket, the client's name is not looked up. */
  @Test
  void theAddressOfAClientHasNoHostName() throws Exception {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(new Collector()));
      Ends.connect(ends.client(new Collector()), server);

      InetSocketAddress client = ends.accepted().remoteAddress();

      assertThat(client.getHostString()).isEqualTo(NetUtil.toAddressString(client.getAddress()));
    }
  }

  @Test
  void aServerSeesTheAddressOfTheClientsHca() throws Exception {
    assumeTrue(Addresses.areEmulated(), "run once, on HCAs of its own");
    URI serverHca = hca(61);
    URI clientHca = hca(62);
    try (Ends ends = new Ends(Ends.options(), serverHca, clientHca)) {
      Channel server =
          ends.server(Collector::new)
              .bind(new InetSocketAddress(serverHca.getHost(), 0))
              .syncUninterruptibly()
              .channel();
      Set<InetSocketAddress> own = new HashSet<>();
      Set<InetSocketAddress> seen = new HashSet<>();
      List<SocketChannel> clients = new ArrayList<>();
      for (int i = 0; i < 20; i++) {
        SocketChannel client = Ends.connect(ends.client(new Collector()), server);
        clients.add(client);
        SocketChannel accepted = ends.accepted();
        await().atMost(Ends.LIMIT).until(accepted::isActive);
        own.add(client.localAddress());
        seen.add(accepted.remoteAddress());
        assertThat(accepted.localAddress()).isEqualTo(client.remoteAddress());
      }

      assertThat(seen).hasSize(clients.size()).isEqualTo(own);
      assertThat(seen)
          .allMatch(address -> address.getAddress().getHostAddress().equals(clientHca.getHost()));
    }
  }

  @Test
  void aServerSeesThePortThatTheClientHasBound() throws Exception {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      int port = 40_123;

      SocketChannel client =
          (SocketChannel)
              ends.client(new Collector())
                  .connect(server.localAddress(), new InetSocketAddress(port))
                  .syncUninterruptibly()
                  .channel();

      assertThat(client.localAddress().getPort()).isEqualTo(port);
      assertThat(ends.accepted().remoteAddress()).isEqualTo(client.localAddress());
    }
  }

  @Test
  void twoConnectionsToAServerCannotBindTheSamePort() {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      InetSocketAddress bound = new InetSocketAddress(40_124);
      Channel first = connectFrom(ends, server, bound).syncUninterruptibly().channel();

      ChannelFuture second = connectFrom(ends, server, bound).awaitUninterruptibly();

      assertThat(second.cause())
          .isInstanceOf(SocketException.class)
          .hasCauseInstanceOf(BindException.class)
          .hasMessageContaining("Address already in use")
          .hasMessageContaining(":40124");
      first.close().syncUninterruptibly();
      assertThat(connectFrom(ends, server, bound).awaitUninterruptibly().isSuccess()).isTrue();
    }
  }

  @Test
  void twoHcasOfOneAddressCannotBindTheSamePortToAServerEither() {
    try (Ends ends = new Ends();
        Ends others = new Ends(Ends.options().sendDepth(48))) {
      Channel server = Ends.bind(ends.server(Collector::new));
      InetSocketAddress bound = new InetSocketAddress(40_125);
      connectFrom(ends, server, bound).syncUninterruptibly();

      assertThat(connectFrom(others, server, bound).awaitUninterruptibly().cause())
          .hasCauseInstanceOf(BindException.class);
    }
  }

  @Test
  void aConnectThatCannotBeginKeepsNoPort() {
    try (Ends ends = new Ends()) {
      Channel client = ends.client(new Collector()).register().syncUninterruptibly().channel();
      InetSocketAddress unresolved = InetSocketAddress.createUnresolved("no.such.host", 1);
      InetSocketAddress bound = new InetSocketAddress(40_126);

      for (int i = 0; i < 2; i++) {
        assertThat(client.connect(unresolved, bound).awaitUninterruptibly().cause())
            .isInstanceOf(UnresolvedAddressException.class);
      }
    }
  }

  @Test
  void aConnectThatFindsNoFreePortFailsAndItsLoopGoesOn() {
    assumeTrue(Addresses.areEmulated(), "other HCAs choose ports themselves");
    Collector echoed = new Collector();
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Echo::new));
      SocketChannel other = Ends.connect(ends.client(echoed), server);
      List<LocalPorts.Taken> taken = takeAllPorts((RdmaSocketChannel) other);
      ChannelFuture connecting = ends.client(new Collector()).connect(server.localAddress());
      boolean ended = connecting.awaitUninterruptibly(Ends.LIMIT.toMillis());
      // Released before the assertions, as a loop that searches for a port without end would not
      // end.
      taken.forEach(LocalPorts.Taken::release);

      assertThat(ended).isTrue();
      assertThat(connecting.cause())
          .isInstanceOf(BindException.class)
          .hasMessageContaining("all 16384 ports");
      other.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> echoed.bytes() == 10);
      assertThat(Ends.connect(ends.client(new Collector()), server).isActive()).isTrue();
    }
  }

  /** Takes all ports of the channel's host to its peer, except the channel's own. */
  private static List<LocalPorts.Taken> takeAllPorts(RdmaSocketChannel of) {
    InetAddress host = requireNonNull(of.localAddress()).getAddress();
    URI listener = requireNonNull(of.handler()).hca().uri(requireNonNull(of.remoteAddress()));
    List<LocalPorts.Taken> taken = new ArrayList<>();
    LocalPorts.Taken free = LocalPorts.takeFree(port -> LocalPorts.take(host, port, listener));
    while (free != null) {
      taken.add(free);
      free = LocalPorts.takeFree(port -> LocalPorts.take(host, port, listener));
    }
    return taken;
  }

  @Test
  void aClientBeyondThePortsHasNone() {
    ClientAddresses addresses = new ClientAddresses();
    InetSocketAddress from = new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
    Set<InetSocketAddress> taken = new HashSet<>();
    for (int i = 0; i < LocalPorts.COUNT; i++) {
      taken.add(addresses.take(from, 0));
    }

    assertThat(taken).hasSize(LocalPorts.COUNT).doesNotContain(from);
    assertThat(addresses.take(from, 0)).isEqualTo(from);
    InetSocketAddress first = taken.iterator().next();
    addresses.release(first);
    assertThat(addresses.take(from, 0)).isEqualTo(first);
  }

  /** A hostile client may do so; the fabric distinguishes the two connections. */
  @Test
  void aClientThatClaimsThePortOfAnotherHasAnother() throws Exception {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      try (RawClient one = RawClient.to(server, 40_127);
          RawClient other = RawClient.to(server, 40_127)) {
        InetSocketAddress first = ends.accepted().remoteAddress();
        InetSocketAddress second = ends.accepted().remoteAddress();

        assertThat(List.of(one, other)).doesNotContainNull();
        assertThat(first.getPort()).isEqualTo(40_127);
        assertThat(second.getPort()).isNotEqualTo(40_127).isPositive();
        assertThat(second.getAddress()).isEqualTo(first.getAddress());
      }
    }
  }

  /** Netty closes a channel this way if no loop registers it. */
  @Test
  void aChannelThatIsClosedForciblyGivesTheAddressOfItsClientBack() {
    Queue<Integer> seen = new ConcurrentLinkedQueue<>();
    int port = 40_128;
    try (Ends ends = new Ends()) {
      Channel server =
          Ends.bind(
              ends.server(Collector::new)
                  .handler(
                      new ChannelInboundHandlerAdapter() {
                        @Override
                        public void channelRead(ChannelHandlerContext context, Object child) {
                          RdmaSocketChannel accepting = (RdmaSocketChannel) child;
                          seen.add(requireNonNull(accepting.remoteAddress()).getPort());
                          accepting.unsafe().closeForcibly();
                        }
                      }));

      for (int i = 0; i < 2; i++) {
        ChannelFuture connecting = connectFrom(ends, server, new InetSocketAddress(port));
        assertThat(connecting.awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
        assertThat(connecting.channel().closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis()))
            .isTrue();
      }

      assertThat(seen).containsExactly(port, port);
    }
  }

  @Test
  void aClientThatIsClosedForciblyGivesItsPortBack() {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      InetSocketAddress bound = new InetSocketAddress(40_129);
      Channel first = connectFrom(ends, server, bound).syncUninterruptibly().channel();

      first.eventLoop().submit(() -> first.unsafe().closeForcibly()).syncUninterruptibly();

      assertThat(connectFrom(ends, server, bound).awaitUninterruptibly().cause()).isNull();
    }
  }

  /**
   * The wildcard and the loopback are the HCA's addresses; {@code 127.0.0.2} is only this
   * machine's.
   */
  @Test
  void anHcaThatIsNamedByItsHostHasThatHostsAddress() {
    assumeTrue(Addresses.areEmulated(), "run once, on an HCA of its own");
    URI named = URI.create("roce://localhost?udp-port=0");
    try (Ends ends = new Ends(Ends.options(), named, named)) {
      assertThat(((InetSocketAddress) Ends.bind(ends.server(Collector::new)).localAddress()))
          .satisfies(address -> assertThat(address.getAddress()).isEqualTo(NetUtil.LOCALHOST4))
          .satisfies(address -> assertThat(address.getPort()).isPositive());
      assertThatThrownBy(
              () ->
                  ends.server(Collector::new)
                      .bind(new InetSocketAddress("127.0.0.2", 0))
                      .syncUninterruptibly())
          .isInstanceOf(BindException.class);
    }
  }

  private static ChannelFuture connectFrom(Ends ends, Channel server, InetSocketAddress bound) {
    return ends.client(new Collector()).connect(server.localAddress(), bound);
  }

  @Test
  void aNameThatNobodyLookedUpIsNoAddress() {
    try (Ends ends = new Ends()) {
      InetSocketAddress unresolved = InetSocketAddress.createUnresolved("no.such.host", 1);
      Channel server = Ends.bind(ends.server(Collector::new));
      int port = ((InetSocketAddress) server.localAddress()).getPort();
      Channel client = ends.client(new Collector()).register().syncUninterruptibly().channel();

      assertThat(
              client
                  .connect(InetSocketAddress.createUnresolved("no.such.host", port))
                  .awaitUninterruptibly()
                  .cause())
          .isInstanceOf(UnresolvedAddressException.class);
      assertThatThrownBy(() -> ends.server(Collector::new).bind(unresolved).syncUninterruptibly())
          .isInstanceOf(UnresolvedAddressException.class);
    }
  }

  @Test
  void nobodyListensAtAnAddressThatIsNotThisMachines() {
    try (Ends ends = new Ends()) {
      assertThatThrownBy(
              () ->
                  ends.server(Collector::new)
                      .bind(new InetSocketAddress(NOBODYS, 0))
                      .syncUninterruptibly())
          .isInstanceOf(BindException.class)
          .hasMessageContaining(NOBODYS);
    }
  }

  @Test
  void nobodyConnectsFromAnAddressThatIsNotThisMachines() {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      InetSocketAddress foreign = new InetSocketAddress(NOBODYS, 0);
      Channel client = ends.client(new Collector()).register().syncUninterruptibly().channel();

      assertThat(client.bind(foreign).awaitUninterruptibly().cause())
          .isInstanceOf(BindException.class)
          .hasMessageContaining(NOBODYS);
      assertThat(connectFrom(ends, server, foreign).awaitUninterruptibly().cause())
          .hasCauseInstanceOf(BindException.class);
    }
  }

  @Test
  void aClientHasAPortOnceItHasBound() {
    try (Ends ends = new Ends()) {
      Channel server = Ends.bind(ends.server(Collector::new));
      Channel client = ends.client(new Collector()).register().syncUninterruptibly().channel();

      client.bind(new InetSocketAddress(0)).syncUninterruptibly();
      int port = ((InetSocketAddress) client.localAddress()).getPort();
      client.connect(server.localAddress()).syncUninterruptibly();

      assertThat(port).isPositive();
      assertThat(((InetSocketAddress) client.localAddress()).getPort()).isEqualTo(port);
    }
  }

  @Test
  void anyAddressOfThisMachineMeansAnHcaThatHasNone() throws Exception {
    assumeTrue(Addresses.areEmulated(), "other HCAs have addresses");
    InetAddress other =
        NetUtil.NETWORK_INTERFACES.stream()
            .flatMap(each -> each.inetAddresses())
            .filter(address -> !address.isLoopbackAddress())
            .findFirst()
            .orElse(null);
    assumeTrue(other != null, "this machine has no address but loopback");
    try (Ends ends = new Ends()) {
      Channel server =
          ends.server(Collector::new)
              .bind(new InetSocketAddress(other, 0))
              .syncUninterruptibly()
              .channel();
      int port = ((InetSocketAddress) server.localAddress()).getPort();

      Channel client =
          ends.client(new Collector())
              .connect(new InetSocketAddress(other, port))
              .syncUninterruptibly()
              .channel();

      assertThat(client.isActive()).isTrue();
    }
  }

  /** Netty programs usually create one factory per group. */
  @Test
  void groupsOfOneAddressShareTheHca() throws Exception {
    URI hca = Addresses.of("netty");
    MultiThreadIoEventLoopGroup boss = group(hca);
    MultiThreadIoEventLoopGroup workers = group(hca);
    try {
      Collector received = new Collector();
      Channel server =
          new ServerBootstrap()
              .group(boss, workers)
              .channel(RdmaServerSocketChannel.class)
              .childHandler(received)
              .bind(Ends.anyPort())
              .syncUninterruptibly()
              .channel();
      Channel client =
          new Bootstrap()
              .group(workers)
              .channel(RdmaSocketChannel.class)
              .handler(new Collector())
              .connect(server.localAddress())
              .syncUninterruptibly()
              .channel();

      client.writeAndFlush(Unpooled.wrappedBuffer(new byte[10])).syncUninterruptibly();

      await().atMost(Ends.LIMIT).until(() -> received.bytes() == 10);
    } finally {
      // The boss group ends first: the workers keep the HCA open.
      end(boss);
      end(workers);
    }
  }

  /** Other options open another HCA, whose loops accept no connections of this one. */
  @Test
  void aChannelOfAnotherHcaThanItsServersIsRefusedByNameAndLeavesNothing() throws Exception {
    URI hca = Addresses.of("netty");
    MultiThreadIoEventLoopGroup boss = group(hca);
    MultiThreadIoEventLoopGroup workers = group(hca, Ends.options().sendDepth(48));
    Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    Queue<WeakReference<Object>> children = new ConcurrentLinkedQueue<>();
    try {
      Channel server =
          new ServerBootstrap()
              .group(boss)
              .channel(RdmaServerSocketChannel.class)
              .handler(
                  new ChannelInboundHandlerAdapter() {
                    @Override
                    public void channelRead(ChannelHandlerContext context, Object child) {
                      children.add(new WeakReference<>(child));
                      workers
                          .register((Channel) child)
                          .addListener(done -> failures.add(done.cause()));
                    }
                  })
              .childHandler(new Collector())
              .bind(Ends.anyPort())
              .syncUninterruptibly()
              .channel();
      for (int i = 0; i < 3; i++) {
        ChannelFuture connecting =
            new Bootstrap()
                .group(workers)
                .channel(RdmaSocketChannel.class)
                .handler(new Collector())
                .connect(server.localAddress());
        assertThat(connecting.awaitUninterruptibly().cause()).isInstanceOf(ConnectException.class);
      }

      await().atMost(Ends.LIMIT).until(() -> failures.size() == 3);
      assertThat(failures)
          .allSatisfy(
              failure -> assertThat(failure).hasMessageContaining("another HCA than its server's"));
      failures.clear();
      await()
          .atMost(Ends.LIMIT)
          .until(
              () -> {
                System.gc();
                return children.stream().allMatch(child -> child.get() == null);
              });
      assertThat(server.isActive()).isTrue();
    } finally {
      end(boss);
      end(workers);
    }
  }

  private static MultiThreadIoEventLoopGroup group(URI hca) {
    return group(hca, Ends.options());
  }

  private static MultiThreadIoEventLoopGroup group(URI hca, RdmaOptions.Builder options) {
    return new MultiThreadIoEventLoopGroup(1, RdmaIoHandler.newFactory(hca, options.build()));
  }

  private static void end(MultiThreadIoEventLoopGroup group) {
    group.shutdownGracefully(0, Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS).syncUninterruptibly();
  }
}
