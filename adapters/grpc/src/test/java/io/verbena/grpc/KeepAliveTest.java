// SPDX-License-Identifier: Apache-2.0
package io.verbena.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.http2.Http2Frame;
import io.netty.handler.codec.http2.Http2FrameCodecBuilder;
import io.netty.handler.codec.http2.Http2PingFrame;
import io.verbena.core.testing.Addresses;
import io.verbena.netty.RdmaSockets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Tests the server's keep-alive. One test covers both ends, as gRPC pings after 10 s at the
 * earliest.
 */
class KeepAliveTest {
  private static final int LIMIT = (int) Addresses.within(Duration.ofSeconds(30)).toSeconds();

  private final int port = Loops.nextPort();
  private final CountDownLatch pings = new CountDownLatch(2);
  private RdmaSockets sockets;
  private Server server;

  @BeforeEach
  void open() {
    sockets = Loops.open();
  }

  @AfterEach
  void close() throws InterruptedException {
    server.shutdownNow();
    assertThat(server.awaitTermination(LIMIT, TimeUnit.SECONDS)).isTrue();
    Loops.close(sockets);
  }

  private Channel connect(boolean answersPings) {
    return sockets
        .on(new Bootstrap())
        .handler(
            new ChannelInitializer<>() {
              @Override
              protected void initChannel(Channel channel) {
                channel
                    .pipeline()
                    .addLast(
                        Http2FrameCodecBuilder.forClient().autoAckPingFrame(answersPings).build(),
                        new SimpleChannelInboundHandler<Http2Frame>() {
                          @Override
                          protected void channelRead0(ChannelHandlerContext on, Http2Frame frame) {
                            if (frame instanceof Http2PingFrame ping && !ping.ack()) {
                              pings.countDown();
                            }
                          }
                        });
              }
            })
        .connect("localhost", port)
        .syncUninterruptibly()
        .channel();
  }

  @Test
  void endsTheConnectionWhosePingsAreNotAnsweredAndNoOther() throws Exception {
    server =
        RdmaGrpc.server(NettyServerBuilder.forPort(port), sockets)
            .keepAliveTime(1, TimeUnit.MILLISECONDS)
            .keepAliveTimeout(3, TimeUnit.SECONDS)
            .build()
            .start();
    // Connects first, so that its keep-alive would also fail first.
    Channel answering = connect(true);
    Channel mute = connect(false);

    assertThat(mute.closeFuture().await(LIMIT, TimeUnit.SECONDS)).isTrue();

    assertThat(pings.getCount()).isZero();
    assertThat(answering.isActive()).isTrue();
  }
}
