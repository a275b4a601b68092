// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class UsageTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "devices",
        "device",
        "doctor",
        "stat",
        "pingpong",
        "perf",
        "ping",
        "datagrams",
        "capture",
        "completion"
      })
  void everyCommandHasAManualPage(String command) {
    Run run = Run.of((command + " --help").strip());

    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .contains(
            "NAME\n", "\nSYNOPSIS\n", "\nDESCRIPTION\n", "\nEXIT STATUS\n", "\nEXAMPLES\n", " - ");
    assertThat(run.err()).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          ''                                  | COMMAND: missing
          nosuch                              | nosuch
          device                              | URI
          doctor                              | URI
          doctor rxe0                         | URI: rxe0 (expected: a URI
          pingpong                            | -d: missing
          stat emulated://x -n 0              | -n: 0 (expected: >= 1)
          stat 1 -i 0                         | -i: 0 (expected: >= 1)
          stat 99999999999                    | PID: 99999999999 (expected: <= 2147483647)
          stat emulated://x --json            | --json: without a PID
          pingpong --local -s 0               | -s: 0 (expected: 1..
          pingpong --local -s 1073741824      | -s: 1073741824 (expected: 1..1073733632)
          pingpong --local -n 0               | -n: 0 (expected: >= 1)
          pingpong --local -r 0               | -r: 0 (expected: >= 1)
          pingpong --local -m 1000            | -m: 1000 (expected: 256
          pingpong --local --transport rd     | --transport
          pingpong --local -q 4               | -q: 4 (expected: with --srq)
          pingpong --local --srq -q 257       | -q: 257 (expected: 1..256)
          pingpong --local --srq -q 9 -r 8    | -r: 8 (expected: >= 9, a receive for each
          pingpong --local --srq --transport ud | --srq: with --transport UD (expected: RC)
          pingpong --local -i 2               | -i: 2 (expected: 1)
          pingpong --local -l 16              | -l: 16 (expected: 0..15)
          pingpong --local 10.0.0.1           | --local: 10.0.0.1
          pingpong --local --timeout 0        | --timeout: 0 (expected: >= 1)
          pingpong -d emulated://x            | --local
          pingpong -d rxe0                    | a URI
          pingpong -d roce://10.0.0.1 roce://node_1 | server: roce://node_1 (expected: a host, or a URI
          perf send lat -d roce://10.0.0.1 roce://node_1 | server: roce://node_1 (expected: a host
          pingpong -d disni://10.0.0.1 -p 70000 | -p: 70000 (expected: 1..65535)
          pingpong --local -d disni:10.0.0.1  | -d: disni:10.0.0.1 (expected: a URI
          perf write bw -d disni:10.0.0.1 -R  | -d: disni:10.0.0.1 (expected: a URI
          perf write bw -d roce://my_host -R  | -d: roce://my_host (expected: a URI
          perf --local                        | VERB
          perf nosuch bw --local              | VERB
          perf send nosuch --local            | WHAT
          perf atomic bw --local -s 16        | -s: 16 (expected: 8
          perf read bw --local -c UD          | -c: UD
          perf write bw --local -c UD         | -c: UD
          perf write bw --local -n 4          | -n: 4 (expected: 5..
          perf write bw --local -n 9 -D 1     | -D: with -n
          perf write bw --local --csv --json  | --csv: with --json
          perf write bw --local -t 0          | -t: 0 (expected: 1..
          perf write bw --local -s 9000000    | -s: 9000000 (expected: 1..8388608)
          perf write bw --local --nosuch      | --nosuch
          perf send lat --local -b            | -b: with lat (expected: bw)
          perf send lat --local -q 2          | -q: 2 (expected: 1, for lat)
          perf send bw --local -q 0           | -q: 0 (expected: 1..16384)
          perf write lat --local -e           | -e: with write (expected: send, read or atomic)
          perf read lat --local -e -D 1       | -e: with -D (expected: one of them)
          perf send bw --local -R -c UD       | -R: with -c UD (expected: RC)
          perf atomic bw --local -a           | -a: with atomic (expected: send, write or read)
          perf write bw --local -a -s 64      | -a: with -s (expected: one of them)
          perf write bw --local -p 7000       | -p: 7000 (expected: none with --local)
          perf write bw --local -R -p 7000    | -p: 7000 (expected: none with --local)
          pingpong --local -p 7000            | -p: 7000 (expected: none with --local)
          ping --local -p 7000                | -p: 7000 (expected: none with emulated://ping,
          ping --local -I 10.0.0.1            | -I: 10.0.0.1 (expected: none with emulated://ping,
          datagrams --local -p 7000           | -p: 7000 (expected: none with emulated://datagrams
          perf read bw --local -R -m 1024     | -R: with -m (expected: one of them)
          perf read bw --local -R -x 1        | -R: with -x (expected: one of them)
          perf read bw --local -R -u 14       | -R: with -u (expected: one of them)
          perf send bw --local -b -D 1        | -D: with send bw -b (expected: -n)
          capture                             | FILE
          capture out.pcap                    | COMMAND
          capture out.pcap pingpong --local   | COMMAND: pingpong --local (expected: one with a URI
          capture o&p pingpong -d roce://::1  | FILE: o&p (expected: letters, digits
          ping                                | -s
          ping -s -c                          | exclusive
          ping -c                             | -a: null (expected: a URI
          ping -c -a emulated://x             | --local
          ping --local -S 25                  | -S: Invalid size 25 (expected: 26..65535)
          ping --local -C -1                  | -C: Invalid count -1
          ping -s -a roce://127.0.0.1 -p 70000 | -p: 70000 (expected: 0..65535)
          ping -s -a roce://127.0.0.1 -p -5   | -p: -5 (expected: 0..65535)
          ping -s -a roce://127.0.0.1:70000   | -a: 70000 (expected: 0..65535)
          datagrams -b iwarp://127.0.0.1 -p 65536 | -p: 65536 (expected: 0..65535)
          datagrams                           | -b: null (expected: a URI
          datagrams -b 10.0.0.1               | -b: 10.0.0.1 (expected: a URI
          datagrams -s roce://10.0.0.1 --local | --local: with -s roce://10.0.0.1 (expected: one
          datagrams -s emulated://x           | lives in one JVM
          datagrams -b roce://10.0.0.1 -c 0   | -c: 0 (expected: 1..1024)
          datagrams -b roce://10.0.0.1 -S 5000 | -S: 5000 (expected: 1..4096)
          datagrams -b roce://10.0.0.1 -C -1  | -C: -1 (expected: 0..8192)
          """)
  void aWrongCommandLineEndsWith2AndSaysWhatIsExpected(String line, String says) {
    Run run = Run.of(line);

    assertThat(run.exitCode()).describedAs(run.err()).isEqualTo(2);
    assertThat(run.err().lines().reduce((before, last) -> last)).get(STRING).contains(says);
    assertThat(run.out()).isEmpty();
  }

  @Test
  void printsAScriptThatCompletesEveryCommand() {
    Run run = Run.of("completion");

    assertThat(run.exitCode()).isZero();
    assertThat(run.out())
        .contains(
            "complete -F _complete_verbena",
            "_picocli_verbena_pingpong",
            "_picocli_verbena_capture",
            "--tx-depth");
  }
}
