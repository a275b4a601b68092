// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.snippets;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.netty.bootstrap.Bootstrap;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.SimpleChannelInboundHandler;
import io.verbena.netty.RdmaSockets;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Shows Netty's channels. */
class NettyTest {
  private static final int LIMIT = 30;

  @Test
  void anEchoAnswers() throws Exception {
    Echo echo = new Echo();
    Reader reader = new Reader(5);

    // snippet: netty
    RdmaSockets sockets = RdmaSockets.create(URI.create("emulated://netty"));
    Channel server =
        sockets
            .on(new ServerBootstrap()) // was: new ServerBootstrap().group(...).channel(...)
            .childHandler(echo)
            .bind("localhost", 8080)
            .syncUninterruptibly()
            .channel();
    Channel client =
        sockets
            .on(new Bootstrap()) // was: new Bootstrap().group(...).channel(...)
            .handler(reader)
            .connect("localhost", 8080)
            .syncUninterruptibly()
            .channel();
    // end

    client.writeAndFlush(Unpooled.copiedBuffer("hello", UTF_8)).syncUninterruptibly();
    assertThat(reader.text.get(LIMIT, TimeUnit.SECONDS)).isEqualTo("hello");
    client.close().syncUninterruptibly();
    server.close().syncUninterruptibly();
    sockets.close();
  }

  /** Writes back what it reads. */
  private static final class Echo extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      var unused = context.writeAndFlush(message);
    }
  }

  /** Reads a text of {@code length} bytes. */
  private static final class Reader extends SimpleChannelInboundHandler<ByteBuf> {
    private final CompletableFuture<String> text = new CompletableFuture<>();
    private final StringBuilder read = new StringBuilder();
    private final int length;

    Reader(int length) {
      this.length = length;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, ByteBuf bytes) {
      read.append(bytes.toString(UTF_8));
      if (read.length() == length) {
        text.complete(read.toString());
      }
    }
  }
}
