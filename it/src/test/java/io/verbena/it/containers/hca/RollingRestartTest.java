// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.containers.InContainers;
import io.verbena.it.containers.VerbenaContainer;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Tests servers that restart one after the other, with a client that reconnects. */
@InContainers
@Tag("exhaustive")
@Tag("once")
class RollingRestartTest {
  private static final int RESTARTS = 3;
  private static final Pattern ANSWERED =
      Pattern.compile("(\\d+)" + ReconnectingClient.ANSWERED + "(\\d+)");

  @Test
  void everyRequestIsAnsweredOnceThoughServersComeAndGo() {
    try (var network = new HcaNetwork("10.77.80.")) {
      List<VerbenaContainer> servers = List.of(network.server(2), network.server(3));
      VerbenaContainer client = network.reconnectingClient(4, RESTARTS, servers);
      for (int i = 0; i < RESTARTS; i++) {
        VerbenaContainer server = servers.get(i % servers.size());
        HcaNetwork.awaitMore(client, ReconnectingClient.PROGRESS + server.hostAndPort(), 1);
        HcaNetwork.terminate(server);
        server.restart();
      }
      assertThat(client.awaitExit(HcaNetwork.LIMIT)).as(client.getLogs()).isZero();
      servers.forEach(HcaNetwork::terminate);

      Counts here = Counts.of(List.of(client));
      assertThat(here.sum("errors\\..*\\.connection\\..*")).isEqualTo(RESTARTS);
      Matcher said = ANSWERED.matcher(client.getLogs());
      assertThat(said.find()).isTrue();
      long answered = Long.parseLong(said.group(1));
      long askedAgain = Long.parseLong(said.group(2));
      assertThat(askedAgain).isBetween(1L, (long) RESTARTS * ReconnectingClient.WINDOW);
      assertThat(here.sum("messages.in")).isGreaterThanOrEqualTo(answered);
      assertThat(Counts.of(servers).sum("messages.in"))
          .isBetween(here.sum("messages.in"), here.sum("messages.out"));
    }
  }
}
