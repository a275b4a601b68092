// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.roce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.verbena.emulated.Caller;
import io.verbena.emulated.Loopbacks;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionParameters;
import io.verbena.verbs.PortSpace;
import java.net.URI;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Connects to a host without an HCA; Linux reports the refusal by ICMP. */
@Tag("once")
class AbsentHcaTest {
  private static final URI HERE = URI.create("roce://" + Loopbacks.address(53));
  private static final URI THERE = URI.create("roce://" + Loopbacks.address(54) + ":7000");

  /** Connects and returns the event, which must be UNREACHABLE. */
  private static ConnectionEvent connect(Caller active, PortSpace space, URI to) throws Exception {
    ConnectionIdentifier from = active.manager.resolve(space, to, Caller.LIMIT.toNanos());
    active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
    int number =
        (space == PortSpace.TCP ? active.queuePair(from) : active.datagrams(from)).number();
    assertThat(number).isPositive();
    from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos() / 2);
    return active.expect(ConnectionEvent.Type.UNREACHABLE);
  }

  @ParameterizedTest
  @EnumSource
  void endsForThatReasonAndNotByItsTimeout(PortSpace space) throws Exception {
    assumeThat(System.getProperty("os.name")).isEqualTo("Linux");
    try (Caller active = new Caller(HERE)) {
      ConnectionEvent event = connect(active, space, THERE);

      assertThat(event.status()).isEqualTo(ConnectionEvent.NO_HCA);
      assertThat(event.statusText()).startsWith("no HCA is at that address");
    }
  }

  @Test
  void connectsOnceThereIsOne() throws Exception {
    assumeThat(System.getProperty("os.name")).isEqualTo("Linux");
    try (Caller active = new Caller(HERE)) {
      assertThat(connect(active, PortSpace.TCP, THERE).status()).isEqualTo(ConnectionEvent.NO_HCA);
      try (Caller passive = new Caller(THERE);
          ConnectionListener listener = passive.manager.listen(THERE, 1)) {
        ConnectionIdentifier from =
            active.manager.resolve(listener.address(), Caller.LIMIT.toNanos());
        active.expect(ConnectionEvent.Type.ADDR_RESOLVED);
        assertThat(active.queuePair(from).number()).isPositive();

        from.connect(ConnectionParameters.defaults(), Caller.LIMIT.toNanos());

        passive.expect(ConnectionEvent.Type.CONNECT_REQUEST).identifier().close();
        active.expect(ConnectionEvent.Type.REJECTED);
      }
    }
  }
}
