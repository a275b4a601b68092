// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.socket.DatagramChannel;
import io.netty.channel.socket.DatagramPacket;
import io.netty.resolver.DefaultAddressResolverGroup;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import io.netty.util.CharsetUtil;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaSockets;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.Connection;
import reactor.netty.DisposableServer;
import reactor.netty.tcp.TcpClient;
import reactor.netty.tcp.TcpServer;

/** Tests how a client on these loops looks up host names, and its datagram channels. */
class NamesTest {
  private static final Duration LIMIT = Addresses.within(Duration.ofSeconds(30));

  /**
   * Without a quiet period Netty may end a busy loop before the loop has closed its sockets, and
   * warns of each socket.
   */
  private static final Duration QUIET = Duration.ofMillis(100);

  private final RdmaLoopResources loops =
      RdmaLoopResources.create(RdmaSockets.create(Addresses.of("reactor-names")));

  @AfterEach
  void close() {
    loops.disposeLater(QUIET, LIMIT).block(LIMIT);
  }

  private DisposableServer server() {
    return TcpServer.create()
        .runOn(loops)
        .host("localhost")
        .port(0)
        .handle((in, out) -> out.sendString(Mono.just("welcome")))
        .bindNow(LIMIT);
  }

  private static String greeting(TcpClient client) {
    Connection connection = client.connectNow(LIMIT);
    String greeting = connection.inbound().receive().asString().blockFirst(LIMIT);
    connection.disposeNow(LIMIT);
    return greeting;
  }

  @Test
  void aNameIsLookedUpThoughNoResolverIsSet() {
    DisposableServer server = server();

    assertThat(
            greeting(TcpClient.newConnection().runOn(loops).host("localhost").port(server.port())))
        .isEqualTo("welcome");

    server.disposeNow(LIMIT);
  }

  @Test
  void aNameIsAskedOfADnsServer() throws Exception {
    DisposableServer server = server();
    try (DnsServer dns = new DnsServer("verbena.test", InetAddress.getLoopbackAddress())) {
      TcpClient client =
          TcpClient.newConnection()
              .runOn(loops)
              .resolver(
                  spec ->
                      spec.runOn(loops)
                          .dnsAddressResolverGroupProvider(
                              builder ->
                                  new DnsAddressResolverGroup(
                                      builder.nameServerProvider(
                                          new SingletonDnsServerAddressStreamProvider(
                                              dns.address())))))
              .port(server.port());

      assertThat(greeting(client.host("verbena.test."))).isEqualTo("welcome");
      assertThatThrownBy(() -> client.host("other.test.").connectNow(LIMIT))
          .hasCauseInstanceOf(UnknownHostException.class);
    }
    server.disposeNow(LIMIT);
  }

  @Test
  void theResolverLooksUpWithoutNettysClientIfToldSo() {
    DisposableServer server = server();

    assertThat(
            greeting(
                TcpClient.newConnection()
                    .runOn(loops)
                    .resolver(DefaultAddressResolverGroup.INSTANCE)
                    .host("localhost")
                    .port(server.port())))
        .isEqualTo("welcome");

    server.disposeNow(LIMIT);
  }

  /** Answers each packet with its text, and records the packets and their threads. */
  private static final class Packets extends SimpleChannelInboundHandler<DatagramPacket> {
    final Queue<String> texts = new ConcurrentLinkedQueue<>();
    final Queue<String> threads = new ConcurrentLinkedQueue<>();
    final Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
    private final boolean answers;

    Packets(boolean answers) {
      this.answers = answers;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, DatagramPacket packet) {
      texts.add(packet.content().toString(CharsetUtil.US_ASCII));
      threads.add(Thread.currentThread().getName());
      if (answers) {
        ChannelFuture unused =
            context.writeAndFlush(new DatagramPacket(packet.content().retain(), packet.sender()));
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      failures.add(cause);
    }
  }

  private Channel bind(Packets handler, InetSocketAddress at) {
    return bootstrap(handler).bind(at).syncUninterruptibly().channel();
  }

  private Bootstrap bootstrap(Packets handler) {
    return new Bootstrap()
        .group(loops.onClient(true))
        .channelFactory(() -> loops.onChannel(DatagramChannel.class, loops.onClient(true)))
        .handler(handler);
  }

  private static InetSocketAddress anyPort() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  @Test
  void datagramsComeOnTheRdmaLoop() {
    Packets received = new Packets(false);
    Channel server = bind(new Packets(true), anyPort());
    Channel client =
        bootstrap(received).connect(server.localAddress()).syncUninterruptibly().channel();
    assertThat(client.isActive()).isTrue();
    assertThat(client.remoteAddress()).isEqualTo(server.localAddress());

    client
        .writeAndFlush(Unpooled.copiedBuffer("hello", CharsetUtil.US_ASCII))
        .syncUninterruptibly();

    await().atMost(LIMIT).untilAsserted(() -> assertThat(received.texts).containsExactly("hello"));
    assertThat(received.threads).allMatch(name -> name.startsWith("rdma"));
    client.close().syncUninterruptibly();
    assertThat(client.isOpen()).isFalse();
    assertThat(client.writeAndFlush(Unpooled.EMPTY_BUFFER).awaitUninterruptibly().cause())
        .isInstanceOf(ClosedChannelException.class);
    server.close().syncUninterruptibly();
  }

  @Test
  void aDatagramThatCannotBeSentFails() {
    Channel channel = bind(new Packets(false), anyPort());

    assertThat(channel.writeAndFlush("no packet").awaitUninterruptibly().cause())
        .isInstanceOf(UnsupportedOperationException.class);

    assertThat(channel.isOpen()).isTrue();
    channel.close().syncUninterruptibly();
  }

  @Test
  void anAddressIsBoundOnce() {
    Channel first = bind(new Packets(false), anyPort());

    assertThatThrownBy(() -> bind(new Packets(false), (InetSocketAddress) first.localAddress()))
        .isInstanceOf(BindException.class);

    first.close().syncUninterruptibly();
  }

  @Test
  void aDatagramChannelClosesWithTheLoops() {
    List<Channel> channels = new ArrayList<>();
    List<Packets> handlers = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      Packets packets = new Packets(false);
      handlers.add(packets);
      channels.add(bind(packets, anyPort()));
    }

    loops.disposeLater(QUIET, LIMIT).block(LIMIT);

    assertThat(channels).noneMatch(Channel::isOpen);
    assertThat(channels).allMatch(channel -> channel.closeFuture().isDone());
    assertThat(handlers).allMatch(packets -> packets.failures.isEmpty());
  }

  @Test
  void aDisposedLoopHasNoDatagrams() {
    Channel channel = bind(new Packets(false), anyPort());
    channel.close().syncUninterruptibly();

    loops.disposeLater(QUIET, LIMIT).block(LIMIT);

    assertThatThrownBy(() -> loops.onChannel(DatagramChannel.class, loops.onClient(true)))
        .isInstanceOf(RejectedExecutionException.class);
  }
}
