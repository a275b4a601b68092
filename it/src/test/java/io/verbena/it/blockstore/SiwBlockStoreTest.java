// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.blockstore;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.it.Program;
import io.verbena.it.guest.GuestDevices;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Nodes;
import io.verbena.samples.blockstore.BlockStoreClient;
import io.verbena.samples.blockstore.BlockStoreServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests the sample's programs with the emulated HCA on TCP sockets at one end, and the kernel's
 * Soft-iWARP at the other.
 */
@Tag("siw")
@InSoftRoceGuest(nodes = 2, devices = GuestDevices.SIW)
class SiwBlockStoreTest {
  private static final int LARGE = 9_000_001;
  private static final int ADDED = 3_000_003;

  @TempDir private static Path folder;

  @ParameterizedTest
  @CsvSource({"disni, iwarp, 7480", "iwarp, disni, 7481", "disni, disni, 7482"})
  void readsAndWritesBlocks(String serverScheme, String clientScheme, int port) throws Exception {
    String here = Nodes.node2() + ":" + port;
    String store = serverScheme + "://" + here;
    String fromNode1 = clientScheme + "://" + here + "?source=" + Nodes.node1();
    Path served = file("served" + port, LARGE);
    Path added = file("added" + port, ADDED);
    try (Program server =
        Program.start(Program.java(BlockStoreServer.class, store, served.toString()))) {
      server.awaitOutput("serving 1 files at " + store + "\n");

      assertFetches(fromNode1, served);
      assertThat(client(fromNode1, "put", added.toString()))
          .contains(ADDED + " " + added.getFileName());
      assertFetches(fromNode1, added);
      assertThat(run(1, fromNode1, "ticket"))
          .contains(
              serverScheme.equals("iwarp")
                  ? ": the HCA has no atomics"
                  : "the store's HCA has no atomics");
    }
  }

  private static Path file(String name, int length) throws IOException {
    byte[] bytes = new byte[length];
    new Random(length).nextBytes(bytes);
    return Files.write(folder.resolve(name), bytes);
  }

  private static void assertFetches(String store, Path original) {
    Path copy = folder.resolve(original.getFileName() + ".fetched");
    assertThat(client(store, "get", original.getFileName().toString(), copy.toString()))
        .contains("sha256 checked");
    assertThat(copy).hasSameBinaryContentAs(original);
  }

  private static String client(String... arguments) {
    return run(0, arguments);
  }

  /** Runs a client in this process, which saves the start of a JVM. */
  private static String run(int expectedExitCode, String... arguments) {
    StringWriter output = new StringWriter();
    PrintWriter writer = new PrintWriter(output, true);
    int exitCode = BlockStoreClient.commandLine().setOut(writer).setErr(writer).execute(arguments);
    assertThat(exitCode).as("exit code; its output: %s", output).isEqualTo(expectedExitCode);
    return output.toString();
  }
}
