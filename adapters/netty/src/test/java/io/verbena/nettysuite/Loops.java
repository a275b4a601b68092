// SPDX-License-Identifier: Apache-2.0
package io.verbena.nettysuite;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapComboFactory;
import io.netty.testsuite.transport.TestsuitePermutation.BootstrapFactory;
import io.netty.util.NetUtil;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaIoHandler;
import io.verbena.netty.RdmaServerSocketChannel;
import io.verbena.netty.RdmaSocketChannel;
import java.util.List;

/** The event loops for Netty's suite; like the suite's own loops they live as long as the JVM. */
final class Loops {
  private static final EventLoopGroup SERVER = group("server");
  private static final EventLoopGroup CLIENT = group("client");

  private Loops() {}

  private static EventLoopGroup group(String name) {
    return new MultiThreadIoEventLoopGroup(
        2,
        new DefaultThreadFactory("suite-" + name, true),
        RdmaIoHandler.newFactory(Addresses.of("netty")));
  }

  static List<BootstrapComboFactory<ServerBootstrap, Bootstrap>> both() {
    return List.of(
        new BootstrapComboFactory<>() {
          @Override
          public ServerBootstrap newServerInstance() {
            return new ServerBootstrap().group(SERVER).channel(RdmaServerSocketChannel.class);
          }

          @Override
          public Bootstrap newClientInstance() {
            return client();
          }
        });
  }

  static List<BootstrapFactory<Bootstrap>> clients() {
    return List.of(Loops::client);
  }

  /** Opens and closes one connection. */
  static void connectOnce() {
    Channel server =
        new ServerBootstrap()
            .group(SERVER)
            .channel(RdmaServerSocketChannel.class)
            .childHandler(new ChannelInboundHandlerAdapter())
            .bind(NetUtil.LOCALHOST, 0)
            .syncUninterruptibly()
            .channel();
    client()
        .handler(new ChannelInboundHandlerAdapter())
        .connect(server.localAddress())
        .syncUninterruptibly()
        .channel()
        .close()
        .syncUninterruptibly();
    server.close().syncUninterruptibly();
  }

  private static Bootstrap client() {
    return new Bootstrap().group(CLIENT).channel(RdmaSocketChannel.class);
  }
}
