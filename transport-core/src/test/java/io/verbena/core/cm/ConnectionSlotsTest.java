// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.RejectReason;
import java.net.InetSocketAddress;
import org.junit.jupiter.api.Test;

class ConnectionSlotsTest {
  private static final int NO_LIMIT = Integer.MAX_VALUE;
  private static final InetSocketAddress ONE = new InetSocketAddress("10.0.0.1", 1);
  private static final InetSocketAddress ONE_AGAIN = new InetSocketAddress("10.0.0.1", 2);
  private static final InetSocketAddress OTHER = new InetSocketAddress("10.0.0.2", 1);

  private final ConnectionSlots slots = new ConnectionSlots();

  @Test
  void refusesBeyondTheLimitAndSaysIt() {
    assertThat(slots.take(ONE, 2, NO_LIMIT)).isNull();
    assertThat(slots.take(null, 2, NO_LIMIT)).isNull();

    assertThat(slots.take(OTHER, 2, NO_LIMIT))
        .isEqualTo(
            new RejectReason(
                RejectReason.CONNECTION_LIMIT, "the server has 2 connections, its limit"));

    slots.release(null);
    assertThat(slots.take(OTHER, 2, NO_LIMIT)).isNull();
    assertThat(slots.taken()).isEqualTo(2);
  }

  @Test
  void countsAnAddressWhateverItsPort() {
    assertThat(slots.take(ONE, NO_LIMIT, 1)).isNull();

    assertThat(slots.take(ONE_AGAIN, NO_LIMIT, 1))
        .isEqualTo(
            new RejectReason(
                RejectReason.PEER_LIMIT,
                "the server has 1 connections of 10.0.0.1, its limit for a peer"));
    assertThat(slots.take(OTHER, NO_LIMIT, 1)).isNull();

    slots.release(ONE_AGAIN);
    assertThat(slots.take(ONE, NO_LIMIT, 1)).isNull();
  }

  @Test
  void clientsWithoutAnAddressAreOnePeer() {
    assertThat(slots.take(null, NO_LIMIT, 1)).isNull();

    assertThat(slots.take(null, NO_LIMIT, 1)).isNotNull();
    assertThat(slots.taken()).isEqualTo(1);
  }
}
