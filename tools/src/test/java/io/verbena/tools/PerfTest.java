// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PerfTest {
  private static final String NUMBER = "\\d+\\.\\d\\d";

  @ParameterizedTest
  @CsvSource({
    "send, -Q 7",
    "write, -Q 128",
    "read, -o 2",
    "send, -c UC",
    "write, -c UC",
    "send, -I 64",
  })
  void printsPerftestsTableOfBandwidth(String verb, String options) {
    Run run = Run.of("perf " + verb + " bw --local -s 64 -n 300 " + options);

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out())
        .containsPattern("(?m)^ {20}(Send|RDMA_Write|RDMA_Read) BW Test$")
        .contains(
            " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n")
        .containsPattern("\n 64 +300 +" + NUMBER + " +" + NUMBER + "\\s+\\d+\\.\\d{6}\n-+\n$");
  }

  @ParameterizedTest
  @CsvSource({
    "send, -q 3 -r 20",
    "send, -b",
    "send, -b -q 3 -r 20 -e",
    "send, -b -c UD -s 512",
    "write, -q 4 -Q 7",
    "write, -b -q 2",
    "read, -b -q 2 -o 2 -e",
    "atomic, -b -q 2 -e",
    "send, -b -q 2 -e -d roce://HERE:7462",
    "write, -b -q 2 -d roce://HERE:7462",
    "read, -q 2 -e -d roce://HERE:7462",
    "send, -b -q 2 -r 4 -d emulated://loses?wire=simulated&loss=0.01&seed=5",
    "send, -R -b -q 3 -r 20 -e",
    "read, -R -q 2 -d emulated://connects?wire=simulated&loss=0.01&seed=6",
    "write, -R -b -q 3 -p 18771 -d roce://HERE",
    "atomic, -R -p 18772 -d roce://HERE",
    "send, -R -r 20 -p 18773 -d iwarp://HERE",
    "send, -R -r 1 -p 18774 -d iwarp://HERE",
    "send, -R -b -q 3 -r 7 -t 16 -p 18775 -d iwarp://HERE",
    "send, -R -b -q 2 -r 20 -e -p 18776 -d iwarp://HERE",
  })
  void measuresSeveralQueuePairsAndBothDirections(String verb, String options) {
    Run run = Run.of("perf " + verb + " bw --local -n 150 " + options);

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    int pairs =
        options.contains("-q") ? Integer.parseInt(options.replaceAll(".*-q (\\d+).*", "$1")) : 1;
    assertThat(run.out())
        .containsPattern(
            "(?m)^ {20}\\w+ " + (options.contains("-b") ? "Bidirectional " : "") + "BW Test$")
        .contains(" Number of qps   : " + pairs + "\n")
        .contains(" rdma_cm QPs     : " + (options.contains("-R") ? "ON" : "OFF") + "\n")
        .containsPattern("\n \\d+ +" + 150 * pairs + " +" + NUMBER + " +" + NUMBER);
    assertThat(run.out().lines().filter(line -> line.startsWith(" remote address: QPN ")))
        .hasSize(pairs)
        .doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @CsvSource({"send", "read", "atomic"})
  void sleepsBetweenTheMessagesOfALatencyTest(String verb) {
    Run run = Run.of("perf " + verb + " lat --local -e -n 100");

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out()).containsPattern("\n [28] +100 ");
  }

  @Test
  void runsAllSizesBothWays() {
    for (String verb : List.of("send", "write")) {
      Run run = Run.of("perf " + verb + " bw --local -a -b -q 2 -n 5 --csv");

      assertThat(run.exitCode()).describedAs(verb + ": " + run.err()).isZero();
      assertThat(run.out().lines().skip(1))
          .describedAs(verb)
          .hasSize(23)
          .allMatch(line -> line.matches("\\d+,10,.*"));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "send, -c RC",
    "write, -c RC",
    "read, -c RC",
    "atomic, -c RC",
    "send, -c UD",
    "write, -c UC",
    "send, -R",
    "write, -R",
  })
  void printsPerftestsTableOfLatency(String verb, String options) {
    Run run = Run.of("perf " + verb + " lat --local -n 100 " + options);

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out())
        .containsPattern("(?m)^ #bytes #iterations    t_min\\[usec]    t_max\\[usec]  t_typical")
        .containsPattern("\n [28] +100( +" + NUMBER + "){3}(\\s+" + NUMBER + "){4} *\n-+\n$");
  }

  @ParameterizedTest
  @ValueSource(strings = {"FETCH_AND_ADD", "CMP_AND_SWAP"})
  void measuresBothAtomics(String type) {
    Run run = Run.of("perf atomic bw --local -n 100 -o 4 -A " + type);

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out()).contains(" Outstand reads  : 4\n").containsPattern("\n 8 +100 ");
  }

  @Test
  void runsAllSizes() {
    List<String> lines =
        Run.of("perf write bw --local -a -n 5 --csv").out().lines().skip(1).toList();

    assertThat(lines).hasSize(23);
    assertThat(lines.get(0)).startsWith("2,5,");
    assertThat(lines.get(22)).startsWith("8388608,5,");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " -b"})
  void givesCreditsAnewForEachSize(String both) {
    Run run = Run.of("perf send bw --local -R -a -n 30 -r 7 --csv -p 18777 -d iwarp://HERE" + both);

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    assertThat(run.out().lines()).hasSize(24);
  }

  @Test
  void runsAllSizesOfMessagesThatBothEndsTakePartIn() {
    for (String test : List.of("send lat", "write lat", "send bw")) {
      Run run = Run.of("perf " + test + " --local -a -n 5 --csv");

      assertThat(run.exitCode()).describedAs(test + ": " + run.err()).isZero();
      assertThat(run.out().lines()).describedAs(test).hasSize(24);
    }
  }

  @Test
  void goesByTime() {
    for (String test : List.of("send bw -q 2", "write lat", "write bw -b -q 2")) {
      Run run = Run.of("perf " + test + " --local -s 8 -D 1");

      assertThat(run.exitCode()).describedAs(test + ": " + run.err()).isZero();
      assertThat(run.out()).describedAs(test).containsPattern("\n 8 +[1-9]\\d* +");
    }
  }

  @Test
  void tellsPercentilesAsCommaSeparatedValues() {
    List<String> lines = Run.of("perf read lat --local -n 50 --csv").out().lines().toList();

    assertThat(lines).hasSize(2);
    assertThat(lines.get(0))
        .isEqualTo(
            "bytes,iterations,t_min_usec,t_max_usec,t_typical_usec,t_avg_usec,t_stdev_usec,"
                + "p50_usec,p90_usec,p99_usec,p99_9_usec,p99_99_usec,max_usec");
    assertThat(lines.get(1)).matches("2,50(,\\d+\\.\\d+){11}");
  }

  @Test
  void tellsPercentilesAsJson() {
    Run run = Run.of("perf write bw --local -s 4096 -n 50 --json");

    assertThat(run.out())
        .startsWith("{\"test\": \"RDMA_Write BW Test\", \"connection\": \"RC\", \"results\": [\n")
        .containsPattern("\n  \\{\"bytes\": 4096, \"iterations\": 50, .*\"p99_9_usec\": [0-9.]+, ")
        .endsWith("}\n]}\n");
  }

  @Test
  void printsTheHistogramIfAsked() {
    assertThat(Run.of("perf read lat --local -n 50 -H").out())
        .contains("Percentile TotalCount", "#[Mean ");
  }

  @Test
  void saysWhatTheDeviceTakes() {
    Run run = Run.of("perf read bw --local -d emulated://few?max-read-atomic=4 -o 5");

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.err()).contains("-o: 5 (expected: 1..4)", "verbena device");
  }

  @ParameterizedTest
  @CsvSource({
    "pingpong -d nosuch://10.9.9.9 -p PORT, 1, no verbs provider for scheme 'nosuch'",
    "perf write bw -d nosuch://10.9.9.9 -p PORT, 1, no verbs provider for scheme 'nosuch'",
    "perf send lat -d roce://HERE -p 0, 2, -p: 0 (expected: 1..65535)",
  })
  void aServerThatNobodyCanUseWaitsForNobody(String line, int exitCode, String says)
      throws Exception {
    CompletableFuture<Run> server = Run.beside(line.replace("PORT", "" + freePort()));

    Run run = server.get(30, TimeUnit.SECONDS);
    assertThat(run.exitCode()).isEqualTo(exitCode);
    assertThat(run.err()).contains(says);
  }

  @Test
  void aServerSaysThatItWaits() throws Exception {
    String line = "perf write bw -n 5 -d roce://HERE --csv -p " + freePort();
    CompletableFuture<Run> server = Run.beside(line.replace(" --csv", ""));
    Run client =
        await()
            .atMost(Duration.ofSeconds(30))
            .until(() -> Run.of(line + " HERE"), run -> !run.err().contains("refused"));

    assertThat(client.exitCode()).describedAs(client.err()).isZero();
    assertThat(server.get(30, TimeUnit.SECONDS).out())
        .startsWith("* Waiting for client to connect... *\n-----");
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }
}
