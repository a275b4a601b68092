// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/**
 * Tests both ends at the verbs SPI, without the guest: {@code roce://} on two loopback addresses.
 */
class VerbsActiveTest {

  @Test
  void readsAMessageOfTheTargetAndNotMore() throws Exception {
    ByteBuffer there = Block.random();
    ByteBuffer here = Block.zeros();
    RoundTrips times = new RoundTrips(3);
    String near = Loopbacks.address(2);
    String far = Loopbacks.address(3);
    ConnectionAddress address = new ConnectionAddress(ConnectionAddress.ROCE, near, far, 18_520);
    ConnectionAddress listens = new ConnectionAddress(ConnectionAddress.ROCE, "", far, 18_520);

    try (VerbsPassive passive = new VerbsPassive(listens, there)) {
      CompletableFuture<Void> accepted =
          CompletableFuture.runAsync(
              () -> {
                try {
                  passive.accept();
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              });
      try (VerbsActive active = new VerbsActive(address, here, passive.target())) {
        accepted.get(30, TimeUnit.SECONDS);
        active.read(3, times);
      }
    }

    assertThat(here.mismatch(there)).isEqualTo(Job.MESSAGE);
    assertThat(times.wholeMicros()).isPositive().isEqualTo(2 * times.halfMicros());
  }
}
