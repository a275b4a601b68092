// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.verbena.PeerUnreachableException;
import io.verbena.RdmaConnection;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.core.testing.Addresses;
import io.verbena.core.testing.TcpRelay;
import io.verbena.reactor.testing.Ends;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * Tests connections over TCP whose network fails silently, which TCP itself notices after minutes.
 */
class SilentNetworkTest {
  private static final Duration SHORT = Duration.ofMillis(80);
  private static final Duration DEADLINE = Duration.ofSeconds(2);

  /** Each end has at most one question in flight, so with this many both ends got answers. */
  private static final int ANSWERED = 6;

  @Test
  void idleEndsNoticeWithinTheDeadlineOfOperations() throws Exception {
    assumeTrue("iwarp".equals(Addresses.scheme()), "an HCA whose wire is TCP");
    SimpleMeterRegistry registry = new SimpleMeterRegistry();
    try (Ends ends =
            Ends.create(
                Ends.options()
                    .keepAlive(SHORT)
                    .operationTimeout(DEADLINE)
                    .meters(new VerbenaMeters(registry)));
        TcpRelay relay = new TcpRelay(ends.server().address())) {
      Ends.Pair pair = ends.connect(relay.address());
      await().atMost(Ends.LIMIT).until(() -> questions(registry) >= ANSWERED);
      assertThat(pair.client().isDisposed()).isFalse();
      assertThat(pair.server().isDisposed()).isFalse();

      relay.cut();

      assertEnds(pair.client());
      assertEnds(pair.server());
    }
  }

  private static double questions(MeterRegistry registry) {
    return registry.find("verbena.keep.alive.questions").counters().stream()
        .mapToDouble(Counter::count)
        .sum();
  }

  private static void assertEnds(RdmaConnection connection) {
    assertThatThrownBy(() -> connection.onClose().block(Ends.LIMIT))
        .isInstanceOf(PeerUnreachableException.class)
        .hasMessageContaining("keep-alive");
  }
}
