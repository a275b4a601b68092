// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static io.verbena.netty.RdmaIoHandler.newFactory;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelOption;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.verbena.RdmaOptions;
import io.verbena.emulated.DeviceFault;
import java.net.URI;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that an HCA is closed once nothing uses it, whichever of its operations failed. */
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

      // A request is counted before it is queued: a late one is dropped after the close.
      await().atMost(Ends.LIMIT).until(() -> server.connectionsTaken() == 0);
    }
    assertClosed(hca);
  }

  @Test
  void aLoopThatCannotBeMadeDoesNotKeepIt() {
    RdmaOptions options = Ends.options().build();
    SharedHca hca = SharedHca.open(HCA, options);
    ObservedProvider.refuse("Device.createCompletionChannel");

    assertThatThrownBy(() -> new MultiThreadIoEventLoopGroup(1, newFactory(HCA, options)))
        .hasStackTraceContaining(ObservedProvider.MESSAGE);

    hca.release();
    assertClosed(hca);
  }

  @Test
  void aLoopThatCannotOpenItAgainDoesNotKeepIt() throws Exception {
    String fuse = "netty-users";
    URI fused = URI.create(HCA + "?fuse=" + fuse);
    SharedHca again;
    try (Ends ends = new Ends(Ends.options(), fused, HCA)) {
      Channel server = Ends.bind(ends.server(new Collector()));
      assertThat(DeviceFault.inject(fuse)).isEqualTo(1);
      assertThat(server.closeFuture().awaitUninterruptibly(Ends.LIMIT.toMillis())).isTrue();
      ObservedProvider.refuse("Device.createCompletionChannel");

      Throwable refused =
          ends.server(new Collector()).bind(Ends.anyPort()).awaitUninterruptibly().cause();

      assertThat(refused).hasMessageContaining(ObservedProvider.MESSAGE);
      again = SharedHca.open(fused, Ends.options().build());
      assertThat(Ends.bind(ends.server(new Collector())).isActive()).isTrue();
    }
    again.release();
    assertClosed(again);
  }
}
