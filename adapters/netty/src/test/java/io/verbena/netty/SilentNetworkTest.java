// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.verbena.core.testing.Addresses;
import io.verbena.core.testing.TcpRelay;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests channels over TCP whose network fails silently, which TCP itself notices after minutes. */
class SilentNetworkTest {
  private static final Duration SHORT = Duration.ofMillis(80);
  private static final Duration DEADLINE = Duration.ofSeconds(3);

  @Test
  void idleEndsNoticeWithinTheDeadlineOfOperations() throws Exception {
    assumeTrue("iwarp".equals(Addresses.scheme()), "an HCA whose wire is TCP");
    Collector atClient = new Collector();
    Collector atServer = new Collector();
    try (Ends ends = new Ends(Ends.options().keepAlive(SHORT).operationTimeout(DEADLINE))) {
      Channel server = Ends.bindShared(ends.server(atServer));
      InetSocketAddress behind = (InetSocketAddress) server.localAddress();
      URI direct = URI.create("iwarp://" + behind.getHostString() + ":" + behind.getPort());
      try (TcpRelay relay = new TcpRelay(direct)) {
        URI address = relay.address();
        Channel client =
            ends.client(atClient)
                .connect(address.getHost(), address.getPort())
                .syncUninterruptibly()
                .channel();
        SocketChannel accepted = ends.accepted();
        await().atMost(Ends.LIMIT).until(accepted::isActive);

        relay.cut();

        assertBreaks(client, atClient);
        assertBreaks(accepted, atServer);
      }
    }
  }

  private static void assertBreaks(Channel channel, Collector told) throws InterruptedException {
    assertThat(channel.closeFuture().await(Ends.LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
    assertThat(told.events)
        .anySatisfy(
            event ->
                assertThat(event)
                    .isInstanceOf(IOException.class)
                    .asString()
                    .contains("no answer to a keep-alive"));
  }
}
