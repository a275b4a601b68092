// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.snippets;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.verbena.netty.AutoSocketChannel;
import io.verbena.netty.RdmaSockets;
import io.verbena.netty.SocketKind;
import io.verbena.reactornetty.RdmaLoopResources;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.netty.DisposableServer;
import reactor.netty.http.client.HttpClient;
import reactor.netty.http.server.HttpServer;
import reactor.netty.resources.LoopResources;

/** Shows one {@code RdmaSockets} for all servers and clients of a program, over RDMA or TCP. */
class SocketsTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);

  @Test
  void takeRdmaWhereThePeerHasIt() {
    ChannelInboundHandlerAdapter echo = new ChannelInboundHandlerAdapter();
    ChannelInboundHandlerAdapter reader = new ChannelInboundHandlerAdapter();

    // snippet: sockets
    RdmaSockets sockets =
        RdmaSockets.builder(URI.create("emulated://all")).orTcp(Duration.ofSeconds(10)).build();
    Channel server =
        sockets
            .on(new ServerBootstrap())
            .childHandler(echo)
            .bind("localhost", 0)
            .syncUninterruptibly()
            .channel();
    Channel client =
        sockets
            .on(new Bootstrap())
            .handler(reader)
            .connect(server.localAddress())
            .syncUninterruptibly()
            .channel();
    String medium = client.attr(AutoSocketChannel.MEDIUM).get(); // "emulated", or "tcp"

    LoopResources loops = RdmaLoopResources.create(sockets); // the same loops, the same HCA
    DisposableServer http =
        HttpServer.create()
            .runOn(loops)
            .host("localhost")
            .port(0)
            .handle((request, response) -> response.sendString(Mono.just("hello")))
            .bindNow();
    // end

    String hello =
        HttpClient.create()
            .runOn(loops)
            .get()
            .uri("http://localhost:" + http.port() + "/")
            .responseContent()
            .aggregate()
            .asString()
            .block(LIMIT);
    assertThat(medium).isEqualTo("emulated");
    assertThat(hello).isEqualTo("hello");
    http.disposeNow(LIMIT);
    client.close().syncUninterruptibly();
    server.close().syncUninterruptibly();
    sockets.close();
  }

  @Test
  void takeEpollWhereItIsAvailable() {
    // snippet: epoll
    SocketKind kind = SocketKind.EPOLL.isAvailable() ? SocketKind.EPOLL : SocketKind.NIO;
    RdmaSockets sockets =
        RdmaSockets.builder(URI.create("emulated://epoll")).orTcp().sockets(kind).build();
    // end

    assertThat(sockets.isClosed()).isFalse();
    sockets.close();
  }
}
