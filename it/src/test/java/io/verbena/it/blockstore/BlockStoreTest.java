// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.blockstore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Outside;
import io.verbena.it.node.PacketLoss;
import io.verbena.samples.blockstore.BlockStoreClient;
import io.verbena.samples.blockstore.BlockStoreServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the sample's programs, started as its README says: the server on node 2, each client on
 * node 1; and each end on the outside host, where the HCA is emulated.
 */
@Tag("once")
@InSoftRoceGuest(nodes = 2)
class BlockStoreTest {
  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final String STORE = "disni://" + System.getenv("VERBENA_NODE2") + ":7470";
  private static final String FROM_NODE1 = STORE + "?source=" + System.getenv("VERBENA_NODE1");

  /** Longer than rxe's maximum message size. */
  private static final int LARGE = 9_000_001;

  /** Hundreds of packets, some of which are lost. */
  private static final int HUNDREDS_OF_PACKETS = 1_000_003;

  private static final int SIGTERM_EXIT = 128 + 15;

  private static final AtomicInteger ADDED = new AtomicInteger();

  @TempDir private static Path folder;
  private static Program server;

  @BeforeAll
  static void serve() throws IOException {
    Path large = file("large", LARGE);
    Path small = file("small", HUNDREDS_OF_PACKETS);
    server =
        Program.start(
            Program.java(BlockStoreServer.class, STORE, large.toString(), small.toString()));
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(server.output()).contains("serving 2 files at " + STORE + "\n"));
  }

  private static Path file(String name, int length) throws IOException {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return Files.write(folder.resolve(name), bytes);
  }

  /** Returns a file for the store, which takes no name twice. */
  private static Path another(int length) throws IOException {
    return file("added " + ADDED.incrementAndGet(), length);
  }

  @AfterAll
  static void endWhenAsked() throws Exception {
    try (Program ending = server) {
      Program.run("kill", "-TERM", Long.toString(ending.pid()));
      assertThat(ending.exitCode(LIMIT)).isEqualTo(SIGTERM_EXIT);
      assertThat(ending.output()).doesNotContain("Exception");
    }
  }

  /** The output of a client, and its exit code. */
  private record Answer(int exitCode, String output) {
    String ofSuccess() {
      assertThat(exitCode).as("exit code; its output: %s", output).isZero();
      return output;
    }
  }

  /** Runs a client in this process, which saves the start of a JVM. */
  private static Answer client(String... arguments) {
    return clientOf(FROM_NODE1, arguments);
  }

  private static Answer clientOf(String store, String... arguments) {
    var output = new StringWriter();
    var writer = new PrintWriter(output, true);
    int exitCode =
        BlockStoreClient.commandLine()
            .setOut(writer)
            .setErr(writer)
            .execute(Stream.concat(Stream.of(store), Stream.of(arguments)).toArray(String[]::new));
    return new Answer(exitCode, output.toString());
  }

  private static void assertFetches(String name, Path original) {
    Path copy = folder.resolve(name + ".fetched");
    assertThat(client("get", name, copy.toString()).ofSuccess()).contains("sha256 checked");
    assertThat(copy).hasSameBinaryContentAs(original);
  }

  @Test
  void readsABlockAsAProgramOfItsOwn() throws Exception {
    Path copy = folder.resolve("large.read");
    assertThat(
            Program.run(
                Program.java(BlockStoreClient.class, FROM_NODE1, "get", "large", copy.toString())))
        .contains("sha256 checked");
    assertThat(copy).hasSameBinaryContentAs(folder.resolve("large"));
  }

  @Test
  void servesAProgramThatHasAnEmulatedHca() throws Exception {
    assertServesOutside("small.outside");
  }

  @Test
  void servesAProgramThatHasAnEmulatedHcaWhilePacketsAreLost() throws Exception {
    PacketLoss.strikes(1, () -> assertServesOutside("small.outside in spite of losses"));
  }

  private static void assertServesOutside(String copyName) throws Exception {
    Path copy = folder.resolve(copyName);
    String store = STORE.replace("disni:", "roce:");
    assertThat(
            Program.run(
                Outside.java(BlockStoreClient.class, store, "get", "small", copy.toString())))
        .contains("sha256 checked");
    assertThat(copy).hasSameBinaryContentAs(folder.resolve("small"));
  }

  @Test
  void readsAndWritesWhereTheServerHasAnEmulatedHcaAlsoWhilePacketsAreLost() throws Exception {
    String there = Outside.address() + ":7470";
    String store = "roce://" + there;
    String fromNode1 = "disni://" + there + "?source=" + System.getenv("VERBENA_NODE1");
    Path small = folder.resolve("small");
    try (Program outside =
        Program.start(Outside.java(BlockStoreServer.class, store, small.toString()))) {
      outside.awaitOutput("serving 1 files at " + store + "\n");
      assertReadsAndWrites(fromNode1, small, file("added outside", HUNDREDS_OF_PACKETS + 2));
      PacketLoss.strikes(
          1, () -> assertReadsAndWrites(fromNode1, small, another(HUNDREDS_OF_PACKETS + 3)));
    }
  }

  private static void assertReadsAndWrites(String store, Path there, Path added) {
    Path copy = folder.resolve(added.getFileName() + ".inside");
    assertThat(clientOf(store, "get", "small", copy.toString()).ofSuccess())
        .contains("sha256 checked");
    assertThat(copy).hasSameBinaryContentAs(there);
    assertThat(clientOf(store, "put", added.toString()).ofSuccess())
        .contains(added.toFile().length() + " " + added.getFileName());
  }

  @Test
  void listsWhatTheOtherNodeHas() {
    assertThat(client("list").ofSuccess())
        .contains(LARGE + " large")
        .contains(HUNDREDS_OF_PACKETS + " small");
  }

  @Test
  void writesABlockThatTheNextClientReads() throws Exception {
    Path added = file("added", LARGE + 1);
    assertThat(client("put", added.toString()).ofSuccess()).contains(LARGE + 1 + " added");
    assertFetches("added", added);
  }

  @Test
  void drawsEachTicketOnce() {
    assertThat(client("ticket").ofSuccess().strip()).isEqualTo("0");
    assertThat(client("ticket").ofSuccess().strip()).isEqualTo("1");
  }

  @Test
  void failsOnABlockThatIsNotThere() {
    Answer answer = client("stat", "nothing");
    assertThat(answer.exitCode()).isEqualTo(1);
    assertThat(answer.output()).contains("nothing").doesNotContain("\tat ");
  }

  @Test
  void failsWhereNobodyServes() {
    Answer answer = clientOf(FROM_NODE1.replace(":7470", ":7471"), "list");
    assertThat(answer.exitCode()).isEqualTo(1);
    assertThat(answer.output()).contains(":7471").doesNotContain("\tat ");
  }

  @Test
  void readsAndWritesWhilePacketsAreLost() throws Exception {
    PacketLoss.strikes(
        1,
        () -> {
          Path added = another(HUNDREDS_OF_PACKETS + 1);
          assertThat(client("put", added.toString()).ofSuccess())
              .contains(HUNDREDS_OF_PACKETS + 1 + " " + added.getFileName());
          assertFetches("small", folder.resolve("small"));
        });
  }
}
