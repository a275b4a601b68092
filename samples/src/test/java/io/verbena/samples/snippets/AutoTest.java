// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.snippets;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.netty.AutoIoHandler;
import io.verbena.netty.AutoServerSocketChannel;
import io.verbena.netty.AutoSocketChannel;
import java.net.URI;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Channels over RDMA or TCP. */
class AutoTest {
  private static final int LIMIT = 30;

  @Test
  void takesRdmaWhereThePeerHasIt() {
    ChannelInboundHandlerAdapter echo = new ChannelInboundHandlerAdapter();
    ChannelInboundHandlerAdapter reader = new ChannelInboundHandlerAdapter();

    // snippet: auto
    EventLoopGroup group =
        new MultiThreadIoEventLoopGroup(AutoIoHandler.newFactory(URI.create("emulated://auto")));
    Channel server =
        new ServerBootstrap()
            .group(group)
            .channel(AutoServerSocketChannel.class) // was: NioServerSocketChannel.class
            .childHandler(echo)
            .bind("localhost", 8081)
            .syncUninterruptibly()
            .channel();
    Channel client =
        new Bootstrap()
            .group(group)
            .channel(AutoSocketChannel.class) // was: NioSocketChannel.class
            .handler(reader)
            .connect("localhost", 8081)
            .syncUninterruptibly()
            .channel();
    String medium = client.attr(AutoSocketChannel.MEDIUM).get(); // "emulated", or "tcp"
    // end

    assertThat(medium).isEqualTo("emulated");
    client.close().syncUninterruptibly();
    server.close().syncUninterruptibly();
    group.shutdownGracefully(0, LIMIT, TimeUnit.SECONDS).syncUninterruptibly();
  }
}
