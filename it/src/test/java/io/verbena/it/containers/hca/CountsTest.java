// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.containers.InContainers;
import io.verbena.it.containers.VerbenaContainer;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests that both ends count the same, except where errors explain the difference. */
@InContainers
@Tag("exhaustive")
@Tag("once")
class CountsTest {
  private static final int EAGER = 4096;
  private static final int RENDEZVOUS = 40_000;
  private static final int MESSAGES = 100;

  @Test
  void bothEndsCountTheSameWithoutFaults() {
    try (var network = new HcaNetwork("10.77.81.")) {
      VerbenaContainer server = network.server(2);
      List<VerbenaContainer> clients =
          List.of(
              network.client(server, 3, 2, EAGER, MESSAGES),
              network.client(server, 4, 2, RENDEZVOUS, MESSAGES));
      clients.forEach(each -> HcaNetwork.assertAllCameBack(each, 2 * MESSAGES));
      HcaNetwork.terminate(server);
      Counts there = Counts.of(List.of(server));
      Counts here = Counts.of(clients);
      for (Counts each : List.of(there, here)) {
        assertThat(each.sum("messages.in")).isEqualTo(4 * MESSAGES);
        assertThat(each.sum("messages.out")).isEqualTo(4 * MESSAGES);
        assertThat(each.sum("data.in")).isEqualTo(2 * MESSAGES * (EAGER + RENDEZVOUS));
        assertThat(each.sum("data.out")).isEqualTo(2 * MESSAGES * (EAGER + RENDEZVOUS));
        assertThat(each.sum("operations.data.read")).isEqualTo(2 * MESSAGES * RENDEZVOUS);
        assertThat(each.sum("errors.*")).isZero();
      }
    }
  }

  @Test
  void whatOneEndCountsMoreAfterAFaultHasFailed() {
    try (var network = new HcaNetwork("10.77.82.")) {
      VerbenaContainer server = network.server(2);
      VerbenaContainer client = network.reconnectingClient(3, 1, List.of(server));
      HcaNetwork.awaitMore(client, ReconnectingClient.PROGRESS, 1);
      client.disconnect(network.network());
      client.awaitOutput(ReconnectingClient.LOST, 1, HcaNetwork.LIMIT);
      client.connect(network.network(), network.address(3));
      assertThat(client.awaitExit(HcaNetwork.LIMIT)).as(client.getLogs()).isZero();
      HcaNetwork.terminate(server);
      Counts there = Counts.of(List.of(server));
      Counts here = Counts.of(List.of(client));
      assertThat(here.sum("errors\\.PeerUnreachableException\\.connection\\..*")).isEqualTo(1);
      // A failed send may have arrived, as its acknowledgement may have been lost.
      assertThat(here.sum("messages.out") - there.sum("messages.in"))
          .isBetween(0L, here.sum("errors\\..*\\.send\\..*"));
      // A failed send of the server may hold all messages in flight, pulses included.
      assertThat(there.sum("messages.out") - here.sum("messages.in"))
          .isBetween(0L, 2 * ReconnectingClient.WINDOW * there.sum("errors\\..*\\.send\\..*"));
    }
  }
}
