// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactornetty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.Channel;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.channel.uring.IoUringSocketChannel;
import io.netty.resolver.dns.DnsAddressResolverGroup;
import io.netty.resolver.dns.SingletonDnsServerAddressStreamProvider;
import io.verbena.netty.AutoSocketChannel;
import io.verbena.netty.RdmaSockets;
import io.verbena.netty.SocketKind;
import java.net.InetAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.ConnectionProvider;

/** Tests Reactor Netty over sockets of a chosen kind, and its name lookups. */
@Tag("once")
class SocketKindTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final URI NO_HCA = URI.create("disni://127.0.0.1");

  private static RdmaSockets open(SocketKind kind) {
    Throwable cause = kind.unavailabilityCause();
    if (cause != null) {
      System.err.println(
          "*** SKIPPED, NOT TESTED HERE: Reactor Netty on " + kind + " sockets. " + cause);
    }
    assumeTrue(cause == null, kind + " sockets are not available");
    return RdmaSockets.builder(NO_HCA).loops(1).orTcp().sockets(kind).build();
  }

  private static Class<? extends SocketChannel> socketOf(SocketKind kind) {
    return switch (kind) {
      case NIO -> NioSocketChannel.class;
      case EPOLL -> EpollSocketChannel.class;
      case IO_URING -> IoUringSocketChannel.class;
    };
  }

  /**
   * A loop takes no datagram channel of another kind, so that with a wrong one no lookup succeeds.
   */
  @ParameterizedTest
  @EnumSource(SocketKind.class)
  void httpAndItsDnsClientGoOverThem(SocketKind kind) throws Exception {
    Queue<Channel> accepted = new ConcurrentLinkedQueue<>();
    ConnectionProvider pool = ConnectionProvider.newConnection();
    try (RdmaSockets sockets = open(kind);
        DnsServer dns = new DnsServer("verbena.test", InetAddress.getLoopbackAddress())) {
      RdmaLoopResources loops = RdmaLoopResources.create(sockets);
      DisposableServer server =
          HttpServer.create()
              .runOn(loops)
              .host("localhost")
              .port(0)
              .doOnConnection(connection -> accepted.add(connection.channel()))
              .handle((request, response) -> response.sendString(Mono.just("hello")))
              .bindNow(LIMIT);

      String answer =
          HttpClient.create(pool)
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
              .get()
              .uri("http://verbena.test.:" + server.port() + "/")
              .responseContent()
              .aggregate()
              .asString()
              .block(LIMIT);

      assertThat(answer).isEqualTo("hello");
      assertThat(accepted).hasSize(1).allMatch(socketOf(kind)::isInstance);
      assertThat(accepted.remove().attr(AutoSocketChannel.MEDIUM).get())
          .isEqualTo(AutoSocketChannel.TCP);
      server.disposeNow(LIMIT);
    }
  }
}
