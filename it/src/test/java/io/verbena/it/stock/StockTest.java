// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.verbena.it.Program;
import io.verbena.it.guest.InSoftRoceGuest;
import io.verbena.it.node.Held;
import io.verbena.it.node.Nodes;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Tests programs of DiSNI's users on our {@code libdisni.so}: they finish, repeatedly. */
@InSoftRoceGuest(nodes = 2)
class StockTest {
  private static final Duration LIMIT = Duration.ofMinutes(4);
  private static final int MESSAGES = 3_000;
  private static final String DONE = "done " + MESSAGES;

  @TempDir private static Path cache = Path.of("");
  private static StockJvm jvm = new StockJvm(List.of(), Path.of(""));

  @BeforeAll
  static void install() throws Exception {
    jvm = StockJvm.installed(cache);
  }

  @Test
  void sendsAndReceives() throws Exception {
    run(jvm, SendReceiveProgram.class, 18_700, 3, 60);
  }

  @Test
  void reads() throws Exception {
    run(jvm, ReadProgram.class, 18_710, 3, 20);
  }

  /** Runs twice: the next server takes the port, and the next client is served. */
  @Test
  void runsAgainOnTheSamePort() throws Exception {
    for (int i = 0; i < 2; i++) {
      run(jvm, SendReceiveProgram.class, 18_720, 1, 20);
    }
  }

  /**
   * Issue 37 of DiSNI's tracker: on Soft-RoCE {@code RDMAvsTcpBenchmark} stopped after some 2,000
   * of 3,000 messages, and when its messages were numbered, some numbers came twice and others
   * never. The wrong numbers were the benchmark's fault, which posted its buffer again before it
   * had read it (pull request 38); for the rest, its maintainers suspected rxe. This test checks
   * each number, and an end that waits in vain finds out whether rxe still owes the completion. If
   * not, the test fails.
   */
  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void countsToThreeThousandBothWays() throws Exception {
    String[] rest = {Nodes.node2(), "18800", Integer.toString(MESSAGES)};
    Held before = Held.now();
    try (var server = jvm.start(NumberedProgram.class, with("server", rest))) {
      server.awaitOutput("listening");
      try (var client = jvm.start(NumberedProgram.class, with("client", rest))) {
        client.exitCode(LIMIT);
        server.exitCode(LIMIT);
        String said = client.output() + server.output();
        if (said.contains(NumberedEnd.UNDONE) && !said.contains(NumberedEnd.LOST)) {
          abandon(NumberedProgram.class.getSimpleName() + ": rxe has left a send undone: " + said);
        }
        assertThat(client.succeed(LIMIT)).as("client, and server: %s", said).contains(DONE);
        assertThat(server.succeed(LIMIT)).contains(DONE);
      }
    }
    before.awaitAgain();
  }

  /**
   * Runs server and client until both succeed, and checks that they leak nothing.
   *
   * <p>A request that rxe never completes is not our failure: the test is skipped, and prints what
   * this machine's kernel did. {@link MissingCompletion} proves that the request was not done: a
   * lost completion fails the test. Such a request occurred in a READ once in ten runs of all tests
   * on Linux 6.1, and DiSNI's users had it, too (its issue 37; {@code docs/roce-and-rxe.md}).
   * Packets delayed by about the retry timeout do not cause it.
   */
  static void run(StockJvm jvm, Class<?> program, int port, int connections, int rounds)
      throws Exception {
    String[] rest = {
      Nodes.node2(), Integer.toString(port), Integer.toString(connections), Integer.toString(rounds)
    };
    Held before = Held.now();
    try (var server = jvm.start(program, with("server", rest))) {
      server.awaitOutput("listening");
      try (var client = jvm.start(program, with("client", rest))) {
        int exitCode = client.exitCode(LIMIT);
        String said = client.output() + server.output();
        assertThat(said).doesNotContain(MissingCompletion.LOST);
        if (exitCode != 0
            && client.output().contains(MissingCompletion.STUCK)
            && said.contains(MissingCompletion.UNDONE)) {
          abandon(program.getSimpleName() + ": rxe has left a request undone");
        }
        assertThat(client.succeed(LIMIT)).as("client, and server: %s", said).contains("done");
        assertThat(server.succeed(LIMIT)).contains("done");
      }
    }
    before.awaitAgain();
  }

  private static void abandon(String reason) throws Exception {
    System.err.println("*** SKIPPED, NOT TESTED HERE: " + reason + '\n' + stateOfTheKernel());
    abort(reason);
  }

  private static String stateOfTheKernel() throws Exception {
    return Program.run("rdma", "-d", "resource", "show", "qp")
        + Program.run("rdma", "-d", "resource", "show", "cq")
        + Program.run("rdma", "statistic", "show");
  }

  private static String[] with(String first, String... rest) {
    return Stream.concat(Stream.of(first), Stream.of(rest)).toArray(String[]::new);
  }
}
