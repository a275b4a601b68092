// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.iwarp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.verbena.emulated.Loopbacks;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests how TCP sockets are closed. */
@Tag("once")
class NioSocketTest {
  @Test
  void resetsItsConnectionIfItIsToldTo() throws Exception {
    try (ServerSocketChannel server =
            ServerSocketChannel.open().bind(new InetSocketAddress(Loopbacks.ADDRESS, 0));
        Socket peer = new Socket(Loopbacks.ADDRESS, server.socket().getLocalPort());
        SocketChannel channel = server.accept()) {
      channel.configureBlocking(false);
      SocketSelector selector = new SocketSelector();
      NioSocket socket = new NioSocket(channel, () -> {});
      socket.register(selector, operations -> false);
      socket.interest(SelectionKey.OP_READ);
      assertThat(socket.output().write(ByteBuffer.allocate(8))).isEqualTo(8);

      socket.resetAtClose();
      socket.close();
      // A registered channel keeps its socket until the next select.
      selector.selectNow(key -> {});

      assertThatThrownBy(() -> peer.getInputStream().readAllBytes())
          .isInstanceOf(SocketException.class);
      selector.close();
    }
  }
}
