// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.samples.blockstore.BlockStoreClient;
import io.verbena.samples.blockstore.BlockStoreServer;
import java.io.InputStream;
import java.time.Duration;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.Network;
import org.testcontainers.images.builder.Transferable;

/** Tests the block store over TCP, server and clients each in a container without RDMA. */
@InContainers
@Tag("exhaustive")
@Tag("once")
class BlockStoreOverTcpTest {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final int LENGTH = 3_000_001;
  private static final int KILLED = 128 + 9;

  private static final Network NETWORK = Network.newNetwork();
  private static final byte[] CONTENT = new byte[LENGTH];
  private static VerbenaContainer server;

  @BeforeAll
  static void serve() {
    new Random(LENGTH).nextBytes(CONTENT);
    // snippet: server
    server =
        new VerbenaContainer(BlockStoreServer.class)
            .withArguments("tcp://0.0.0.0:7470", "/block")
            .withPort(7470)
            .withReadiness("serving 1 files at tcp://")
            .withCopyToContainer(Transferable.of(CONTENT), "/block")
            .withNetwork(NETWORK)
            .withNetworkAliases("store");
    server.start();
    // end
  }

  @AfterAll
  static void end() {
    server.close();
    NETWORK.close();
  }

  private static VerbenaContainer client(String store, String... arguments) {
    VerbenaContainer client =
        new VerbenaContainer(BlockStoreClient.class)
            .withArguments(store)
            .withArguments(arguments)
            .withNetwork(NETWORK);
    client.start();
    return client;
  }

  private static void assertFetches() throws Exception {
    // snippet: client
    try (VerbenaContainer client =
        new VerbenaContainer(BlockStoreClient.class)
            .withArguments("tcp://" + server.hostAndPort(), "get", "block", "/tmp/copy")
            .withNetwork(NETWORK)) {
      client.start();
      assertThat(client.awaitExit(LIMIT)).as(client.getLogs()).isZero();
      assertThat(client.getLogs()).contains("sha256 checked");
      assertThat(client.<byte[]>copyFileFromContainer("/tmp/copy", InputStream::readAllBytes))
          .isEqualTo(CONTENT);
    }
    // end
  }

  @Test
  void aClientFetchesAcrossTheNetworkAndAgainAfterTheServerWasKilled() throws Exception {
    assertFetches();
    server.kill();
    assertThat(server.awaitExit(LIMIT)).isEqualTo(KILLED);
    server.restart();
    assertFetches();
  }

  @Test
  void aServerThatIsPausedAnswersNobodyUntilItIsResumed() throws Exception {
    server.pause();
    try (VerbenaContainer client =
        client("tcp://" + server.hostAndPort(), "--limit", "1", "list")) {
      assertThat(client.awaitExit(LIMIT)).as(client.getLogs()).isEqualTo(1);
    } finally {
      server.resume();
    }
    assertFetches();
  }

  @Test
  void namesAreResolvedWithinTheNetwork() {
    try (VerbenaContainer client = client("tcp://store:7470", "list")) {
      assertThat(client.awaitExit(LIMIT)).as(client.getLogs()).isZero();
      assertThat(client.getLogs()).contains(LENGTH + " block");
    }
  }

  @Test
  void aClientOfNobodyFails() {
    try (VerbenaContainer client = client("tcp://" + server.host() + ":7471", "list")) {
      assertThat(client.awaitExit(LIMIT)).isEqualTo(1);
      assertThat(client.getLogs()).contains(":7471").doesNotContain("\tat ");
    }
  }
}
