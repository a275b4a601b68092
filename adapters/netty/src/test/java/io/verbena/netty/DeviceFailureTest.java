// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.channel.Channel;
import io.verbena.HcaException;
import io.verbena.core.testing.Addresses;
import io.verbena.emulated.DeviceFault;
import io.verbena.verbs.VerbsException;
import java.net.BindException;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** What becomes of a server whose HCA fails. */
class DeviceFailureTest {
  private static final String FUSE = "netty-server";

  @Test
  void aServerChannelTellsOfItAndClosesAndNoOtherCanBeBound() {
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
      assertThatThrownBy(() -> Ends.bind(ends.server(new Collector())))
          .isInstanceOf(BindException.class)
          .hasMessageContaining("has failed");
    }
  }
}
