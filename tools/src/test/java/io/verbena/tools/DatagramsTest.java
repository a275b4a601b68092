// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DatagramsTest {
  @ParameterizedTest
  @ValueSource(strings = {"", "-c 3 -S 1024", "-C 50 -S 1", "-C 0"})
  void comeBackWhole(String options) {
    Run run = Run.of(("datagrams --local -b roce://" + Run.HERE + " " + options).strip());

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out())
        .startsWith("connecting\n")
        .endsWith(
            options.equals("-C 0")
                ? "connecting\ntest complete\n"
                : "receiving data transfers\ndata transfers complete\ntest complete\n");
  }

  @Test
  void comeBackWholeByName() {
    Run run = Run.of("datagrams --local -c 2");

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out()).endsWith("data transfers complete\ntest complete\n");
  }

  @Test
  void areServedAsSoonAsTheServerListens() throws Exception {
    String line = "datagrams -p 7464 -c 2 ";
    CompletableFuture<Run> server = Run.beside(line + "-b roce://" + Run.HERE);
    Run client =
        await()
            .atMost(Duration.ofSeconds(30))
            .until(
                () -> Run.of(line + "-s roce://" + Run.HERE + " -b " + Run.HERE),
                run -> !run.err().contains("UNREACHABLE, error 1 "));

    assertThat(client.exitCode()).describedAs(client.err()).isZero();
    assertThat(server.get(30, TimeUnit.SECONDS).out())
        .isEqualTo(
            "listening at roce://"
                + Run.HERE
                + ":7464\nreceiving data transfers\nsending replies\n"
                + "data transfers complete\ntest complete\n");
  }

  @Test
  void saysThatNobodyServesThem() {
    Run run = Run.of("datagrams -s roce://" + Run.HERE + ":7465");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err())
        .contains("UNREACHABLE, error 1 (expected: ESTABLISHED)", "start the server first");
  }

  @Test
  void saysThatTheServerHasFewerQueuePairs() throws Exception {
    CompletableFuture<Run> server =
        Run.beside("datagrams -p 7467 --timeout 5 -b roce://" + Run.HERE);
    Run client =
        await()
            .atMost(Duration.ofSeconds(30))
            .until(
                () -> Run.of("datagrams -p 7467 -c 2 --timeout 4 -s roce://" + Run.HERE),
                run -> !run.err().contains("UNREACHABLE, error 1 "));

    assertThat(client.exitCode()).isEqualTo(1);
    assertThat(client.err())
        .startsWith("verbena: queue pair 2: ")
        .contains("-> give both ends the same -c");
    assertThat(server.get(30, TimeUnit.SECONDS).exitCode()).isEqualTo(1);
  }
}
