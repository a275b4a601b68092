// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.containers.InContainers;
import io.verbena.it.containers.VerbenaContainer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.testcontainers.images.builder.Transferable;

/**
 * Tests a cluster of gRPC servers, each on a host of its own, with and without an HCA, and of
 * clients with and without one. Each host gets or loses an HCA, and later returns to its first
 * state, while all clients call all servers.
 */
@InContainers
@Tag("exhaustive")
@Tag("once")
class MixedClusterTest {
  /** The number of servers; {@code bin/suite cluster} has six. */
  private static final int SERVERS = Integer.getInteger("verbena.cluster.servers", 2);

  private static final int PORT = 7000;
  private static final int FIRST_HOST = 10;
  private static final int MORE = 20;
  private static final String ROCE = "roce://0.0.0.0";

  /** The HCA's URI of a host without an RNIC. */
  private static final String NONE = "disni://0.0.0.0";

  private static final Duration LIMIT = Duration.ofSeconds(60);
  private static final Pattern COUNT = Pattern.compile("([\\w.:]+)=(\\d+)");

  @Test
  @Timeout(900)
  void noCallFailsWhileHostsGetHcasAndLoseThem() throws IOException {
    try (var network = new HcaNetwork("10.77.90.")) {
      List<Host> hosts =
          IntStream.range(0, SERVERS)
              .mapToObj(i -> new Host(network, FIRST_HOST + i, i < SERVERS / 2))
              .toList();
      List<VerbenaContainer> clients =
          List.of(
              client(network, 2, ROCE, hosts),
              client(network, 3, NONE, hosts),
              client(network, 4, MixedClient.SOCKETS, hosts));
      for (VerbenaContainer client : clients) {
        awaitMore(client, hosts);
      }
      hosts.forEach(Host::awaitItsMedium);

      for (int round = 0; round < 2; round++) {
        for (Host host : hosts) {
          host.change();
          for (VerbenaContainer client : clients) {
            awaitMore(client, hosts);
          }
          host.awaitItsMedium();
        }
      }

      for (VerbenaContainer client : clients) {
        HcaNetwork.terminate(client);
        assertThat(client.getLogs()).doesNotContain(MixedClient.FAILED);
      }
      record(clients);
    }
  }

  private static VerbenaContainer client(
      HcaNetwork network, int address, String hca, List<Host> hosts) {
    return network.start(
        new VerbenaContainer(MixedClient.class)
            .withArguments(hca)
            .withArguments(
                hosts.stream().map(each -> each.server.hostAndPort()).toArray(String[]::new))
            .withReadiness(MixedClient.ANSWERED),
        address);
  }

  /** Waits until each server has answered further calls of this client. */
  private static void awaitMore(VerbenaContainer client, List<Host> hosts) {
    Map<String, Long> before = counts(client, MixedClient.ANSWERED);
    await()
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(200))
        .untilAsserted(
            () ->
                assertThat(counts(client, MixedClient.ANSWERED))
                    .allSatisfy(
                        (server, count) ->
                            assertThat(count).isGreaterThan(before.get(server) + MORE)));
    assertThat(before).hasSameSizeAs(hosts);
  }

  /** Returns the counts in the last such line of the output. */
  private static Map<String, Long> counts(VerbenaContainer program, String text) {
    String logs = program.getLogs();
    int end = logs.lastIndexOf('\n');
    int start = logs.lastIndexOf(text, end);
    var counts = new HashMap<String, Long>();
    if (start >= 0) {
      Matcher matcher = COUNT.matcher(logs.substring(start, logs.indexOf('\n', start)));
      while (matcher.find()) {
        counts.put(matcher.group(1), Long.valueOf(matcher.group(2)));
      }
    }
    return counts;
  }

  private static void record(List<VerbenaContainer> clients) throws IOException {
    String file = System.getProperty("verbena.cluster.record");
    if (file == null) {
      return;
    }
    var rows = new ArrayList<String>();
    rows.add("| client | calls | failed |");
    rows.add("| --- | --- | --- |");
    List<String> names = List.of("with an HCA", "without", "knows nothing of Verbena");
    for (int i = 0; i < names.size(); i++) {
      long calls =
          counts(clients.get(i), MixedClient.ANSWERED).values().stream()
              .mapToLong(Long::longValue)
              .sum();
      rows.add("| " + names.get(i) + " | " + calls + " | 0 |");
    }
    Files.write(Path.of(file), rows);
  }

  /** A host and its server. */
  private static final class Host {
    private final VerbenaContainer server;
    private boolean hasHca;

    Host(HcaNetwork network, int address, boolean hasHca) {
      this.hasHca = hasHca;
      server =
          network.start(
              new VerbenaContainer(MixedServer.class)
                  .withArguments(Integer.toString(PORT))
                  .withPort(PORT)
                  .withReadiness(MixedServer.READY)
                  .withCopyToContainer(hca(), MixedServer.HCA),
              address);
    }

    private Transferable hca() {
      return Transferable.of(hasHca ? ROCE : NONE);
    }

    /** Ends the server, adds an HCA to the host or removes it, and restarts the server. */
    private void change() {
      HcaNetwork.terminate(server);
      hasHca = !hasHca;
      server.copyFileToContainer(hca(), MixedServer.HCA);
      server.restart();
    }

    /** Waits until the server has connections over RDMA if its host has an HCA, and none if not. */
    private void awaitItsMedium() {
      await()
          .atMost(LIMIT)
          .pollInterval(Duration.ofMillis(200))
          .untilAsserted(
              () -> {
                Map<String, Long> accepted = counts(server, MixedServer.ACCEPTED);
                if (hasHca) {
                  assertThat(accepted).containsKeys("roce", "tcp");
                } else {
                  assertThat(accepted).doesNotContainKey("roce");
                }
              });
    }
  }
}
