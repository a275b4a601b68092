// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.socket.SocketChannel;
import io.verbena.HcaException;
import io.verbena.core.testing.Addresses;
import io.verbena.emulated.DeviceFault;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** What becomes of channels whose HCA fails, and of their loops. */
class DeviceFailureTest {
  private static final String FUSE = "netty-server";

  @Test
  void aServerChannelTellsOfItAndClosesAndTheNextOneIsOnTheHcaOpenedAgain() throws Exception {
    assumeTrue(Addresses.areEmulated(), "no other device can be broken here");
    Collector told = new Collector();
    URI plain = Addresses.of("netty");
    URI fused = URI.create(plain + (plain.getQuery() == null ? "?" : "&") + "fuse=" + FUSE);
    try (Ends ends = new Ends(Ends.options(), fused, plain)) {
      Channel server = Ends.bind(ends.server(new Collector()).handler(told));

      assertThat(DeviceFault.inject(FUSE)).isEqualTo(1);

      assertThat(server.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      assertThat(told.events)
          .singleElement()
          .isInstanceOfSatisfying(
              HcaException.class,
              failure ->
                  assertThat(failure)
                      .hasMessageContaining("has failed")
                      .hasCauseInstanceOf(VerbsException.class));

      Collector received = new Collector();
      Channel again = Ends.bind(ends.server(received));
      SocketChannel client = Ends.connect(ends.client(new Collector()), again);
      client.writeAndFlush(Unpooled.wrappedBuffer(new byte[100])).syncUninterruptibly();
      await().atMost(Ends.LIMIT).until(() -> received.bytes() == 100);
    }
  }
}
