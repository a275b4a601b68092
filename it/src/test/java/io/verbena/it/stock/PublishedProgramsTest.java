// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.interop.Listening;
import io.verbena.it.node.Held;
import io.verbena.it.node.Nodes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests DiSNI's own examples and benchmarks, as published, on our {@code libdisni.so}. */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class PublishedProgramsTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String READ = "This is a RDMA/read on stag";

  @TempDir private static Path cache = Path.of("");
  private static StockJvm jvm = new StockJvm(List.of(), Path.of(""));

  @BeforeAll
  static void install() throws Exception {
    jvm = StockJvm.installed(cache);
  }

  @SuppressWarnings("ImmutableEnumChecker") // List.of is immutable
  private enum Pair {
    MESSAGES(
        18_740,
        com.ibm.disni.examples.SendRecvServer.class,
        com.ibm.disni.examples.SendRecvClient.class,
        "Message from the client: Hello from the client",
        "Message from the server: Hello from the server"),
    READS(
        18_750,
        com.ibm.disni.examples.ReadServer.class,
        com.ibm.disni.examples.ReadClient.class,
        "ReadServer::final message",
        "ReadClient::read memory from server: " + READ),
    VERBS(
        18_760,
        com.ibm.disni.examples.VerbsServer.class,
        com.ibm.disni.examples.VerbsClient.class,
        "VerbsServer::done",
        "VerbsClient::read memory from server: " + READ),
    /** The server waits for more messages than are sent: the test ends when the client does. */
    MANY_MESSAGES(
        18_770,
        com.ibm.disni.benchmarks.SendRecvServer.class,
        com.ibm.disni.benchmarks.SendRecvClient.class,
        "client connected",
        "Bidirectional average latency",
        "-k",
        "2000"),
    MANY_READS(
        18_780,
        com.ibm.disni.benchmarks.ReadServer.class,
        com.ibm.disni.benchmarks.ReadClient.class,
        "ReadServer, final message",
        "ReadClient, latency",
        "-k",
        "200"),
    /** The program of issue 37 of DiSNI's tracker, which did not finish on Soft-RoCE. */
    MESSAGES_BESIDE_TCP(
        18_790,
        com.ibm.disni.benchmarks.RDMAvsTcpBenchmarkServer.class,
        com.ibm.disni.benchmarks.RDMAvsTcpBenchmarkClient.class,
        "Accepted connection",
        "TCP result",
        "-k",
        "2000");

    final int port;
    final Class<?> server;
    final Class<?> client;
    final String saidByServer;
    final String saidByClient;
    final List<String> options;

    Pair(
        int port,
        Class<?> server,
        Class<?> client,
        String saidByServer,
        String saidByClient,
        String... options) {
      this.port = port;
      this.server = server;
      this.client = client;
      this.saidByServer = saidByServer;
      this.saidByClient = saidByClient;
      this.options = List.of(options);
    }
  }

  @ParameterizedTest
  @EnumSource(Pair.class)
  void runsToItsEnd(Pair pair) throws Exception {
    List<String> arguments =
        new ArrayList<>(List.of("-a", Nodes.node2(), "-p", Integer.toString(pair.port)));
    arguments.addAll(pair.options);
    String[] all = arguments.toArray(String[]::new);
    Held before = Held.now();
    try (Program server = jvm.start(pair.server, all)) {
      Listening.onManager(pair.port);
      try (Program client = jvm.start(pair.client, all)) {
        assertThat(client.succeed(LIMIT)).contains(pair.saidByClient);
        if (pair == Pair.MANY_MESSAGES) {
          server.kill();
          assertThat(server.output()).contains(pair.saidByServer);
        } else {
          assertThat(server.succeed(LIMIT)).contains(pair.saidByServer);
        }
      }
    }
    before.awaitAgain();
  }
}
