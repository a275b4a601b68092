// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import java.net.URI;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An HCA is closed once nothing uses it, whatever has failed on it. */
@Tag("once")
class HcaUsersTest {
  private static final URI HCA = URI.create("observed://users");

  private static void assertClosed(SharedHca hca) {
    SharedHca again = SharedHca.open(hca.address(), hca.options());
    again.release();
    assertThat(again).isNotSameAs(hca);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ConnectionListener.close", "ConnectionIdentifier.close"})
  void aCloseThatFailsOnceLeavesNothingOpen(String failing) {
    SharedHca hca;
    try (Ends ends = new Ends(Ends.options(), HCA, HCA)) {
      RdmaServerSocketChannel server =
          (RdmaServerSocketChannel)
              Ends.bind(ends.server(new Collector()).option(ChannelOption.AUTO_READ, false));
      hca = server.loopHca();
      for (int i = 0; i < 2; i++) {
        ChannelFuture unused = ends.client(new Collector()).connect(server.localAddress());
      }
      await().atMost(Ends.LIMIT).until(() -> server.connectionsTaken() == 2);

      ObservedProvider.refuse(failing);
      server.close().awaitUninterruptibly();

      assertThat(server.connectionsTaken()).isZero();
    }
    assertClosed(hca);
  }
}
