// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.IoHandlerFactory;
import io.netty.channel.nio.NioIoHandler;
import io.verbena.PollMode;
import io.verbena.netty.SocketLoop.Kind;
import java.io.IOException;
import java.net.BindException;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How sockets on a loop with an HCA end. */
@Tag("once")
class SocketsEndTest {
  private static boolean isFree(SocketAddress address) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(address);
      return true;
    } catch (BindException e) {
      return false;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** The selector lets go of it, which a loop that polls its HCA asks now and then only. */
  @Test
  void aSocketThatIsClosedFreesItsPortWithinATurn() throws Exception {
    LoopTurns turns = new LoopTurns();
    IoHandlerFactory handlers = SocketLoop.handlers(PollMode.BUSY, NioIoHandler.newFactory());
    try (SocketLoop loop = new SocketLoop(Kind.NIO, turns.of(handlers))) {
      for (int i = 0; i < 10; i++) {
        Channel server = loop.bindSocket(new Echo());
        SocketAddress address = server.localAddress();
        CompletableFuture<Boolean> freed = new CompletableFuture<>();

        loop.loop()
            .execute(
                () -> {
                  ChannelFuture unused = server.close();
                  turns.afterNext(() -> freed.complete(isFree(address)));
                });

        assertThat(freed.get(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
      }
    }
  }
}
