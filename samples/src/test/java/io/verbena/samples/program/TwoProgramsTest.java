// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.samples.blockstore.BlockStoreClient;
import io.verbena.samples.blockstore.BlockStoreServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests each sample as two programs: the server in one process, the client in another. */
class TwoProgramsTest {
  private static final Pattern SERVING = Pattern.compile("(?m)^serving .* at (\\S+)$");
  private static final int LENGTH = 1_000_003;

  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({
    "roce://127.86.0.1:0, RDMA",
    "shm://quotes:0, RDMA",
    "tcp://127.0.0.1:0, TCP",
  })
  void grpcClientGetsEveryQuote(String address, String transport) throws Exception {
    assertServed(
        io.verbena.samples.grpc.Main.class,
        address,
        List.of("--calls", "50", "--quotes", "500"),
        "quotes over " + transport,
        "unary calls/s, one at a time",
        "7 of 7 checks passed");
  }

  @ParameterizedTest
  @CsvSource({
    "roce://127.86.0.2:0, RDMA",
    "tcp://127.0.0.1:0, TCP",
  })
  void rsocketClientGetsEveryTick(String address, String transport) throws Exception {
    assertServed(
        io.verbena.samples.rsocket.Main.class,
        address,
        List.of("--fast", "3000", "--slow", "800"),
        "ticks over " + transport,
        "ticks/s to one that rests",
        "6 of 6 checks passed");
  }

  @ParameterizedTest
  @CsvSource({
    "roce://127.86.0.3:0, RDMA",
    "tcp://127.0.0.1:0, TCP",
  })
  void httpClientGetsEveryAnswer(String address, String transport) throws Exception {
    assertServed(
        io.verbena.samples.http.Main.class,
        address,
        List.of("--gets", "50", "--pieces", "100"),
        "HTTP over " + transport,
        "GET, one at a time: requests/s",
        "4 of 4 checks passed");
  }

  @ParameterizedTest
  @CsvSource({
    "roce://127.86.0.6:0, RDMA",
    "tcp://127.0.0.1:0, TCP",
  })
  void flightClientGetsEveryRow(String address, String transport) throws Exception {
    assertServed(
        io.verbena.samples.flight.Main.class,
        address,
        List.of("--rows", "50000"),
        "rows over " + transport,
        "rows/s sent by DoPut",
        "9 of 9 checks passed");
  }

  private void assertServed(Class<?> main, String address, List<String> options, String... expected)
      throws Exception {
    try (ChildProcess server = start(main, "server", own(address))) {
      List<String> arguments = new ArrayList<>(options);
      arguments.addAll(List.of("client", server.awaitOutput(SERVING)));
      try (ChildProcess client = start(main, arguments.toArray(String[]::new))) {
        assertThat(client.awaitExit()).as(client.output()).isZero();
        assertThat(client.output()).contains(expected).doesNotContain("FAILED");
      }
    }
  }

  /** With gRPC the memory is served at the next port, so that the port has to be given. */
  @ParameterizedTest
  @CsvSource({
    "roce://127.86.0.4:0, ''",
    "tcp://127.0.0.1:0, ''",
    "roce://127.86.0.5:7473, --grpc",
    "tcp://127.0.0.1:0, --grpc",
  })
  void blockStoreClientReadsEveryBlock(String address, String option) throws Exception {
    byte[] content = new byte[LENGTH];
    new Random(LENGTH).nextBytes(content);
    Path file = Files.write(folder.resolve("block"), content);
    String[] options = option.isEmpty() ? new String[0] : new String[] {option};
    try (ChildProcess server =
        start(BlockStoreServer.class, with(options, own(address), file.toString()))) {
      String store = server.awaitOutput(SERVING);
      try (ChildProcess client = start(BlockStoreClient.class, with(options, store))) {
        assertThat(client.awaitExit()).as(client.output()).isZero();
        assertThat(client.output()).contains("block: " + LENGTH + " bytes at", "sha256 checked");
      }
      Path copy = folder.resolve("copy");
      try (ChildProcess client =
          start(BlockStoreClient.class, with(options, store, "get", "block", copy.toString()))) {
        assertThat(client.awaitExit()).as(client.output()).isZero();
        assertThat(copy).hasBinaryContent(content);
      }
    }
  }

  /** Returns an address that concurrent runs of these tests do not use. */
  private static String own(String address) {
    return address.replace(
        "127.86.0.", "127.86." + (1 + ProcessHandle.current().pid() % 254) + '.');
  }

  private static String[] with(String[] options, String... arguments) {
    List<String> all = new ArrayList<>(Arrays.asList(options));
    all.addAll(Arrays.asList(arguments));
    return all.toArray(String[]::new);
  }

  private ChildProcess start(Class<?> main, String... arguments) throws Exception {
    return ChildProcess.start(
        Files.createTempFile(folder, "program", ".out"), main, Arrays.asList(arguments));
  }
}
