// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests {@code verbena stat} on programs in other JVMs. */
class StatTest {
  private static final String HEADER =
      "device lqpn rqpn type state user sends recvs sq rq scq rcq rnr_sent rnr_recv retrans"
          + " credits";
  private static final int LQPN = 1;
  private static final int RQPN = 2;
  private static final int SENDS = 6;
  private static final int RECEIVES = 7;

  @Test
  void showsTheQueuePairsOfARunningProgramWhileTheyWork() throws Exception {
    try (EchoProgram program = EchoProgram.echoing()) {
      // On a busy machine the program may make no progress between two answers.
      await().atMost(Duration.ofSeconds(60)).until(() -> askTwice(program), StatTest::haveGrown);

      assertThat(Run.of("stat").out()).containsPattern("(?m)^ *" + program.pid() + " +2  .*Echo");
      assertThat(Run.of("stat --json " + program.pid()).out())
          .containsPattern("(?m)^\\{\"time\": .*\"sends_posted\": [1-9].*\"receive\": \\d+}}$");
    }
  }

  /** Returns the rows of two answers. */
  private static List<List<String>> askTwice(EchoProgram program) {
    Run run = Run.of("stat " + program.pid() + " -n 2");

    assertThat(run.exitCode()).describedAs(run.err()).isZero();
    List<List<String>> rows = run.out().lines().map(StatTest::cells).toList();
    assertThat(rows).hasSize(5);
    assertThat(String.join(" ", rows.get(0))).isEqualTo(HEADER);
    for (List<String> row : rows.subList(1, 5)) {
      assertThat(String.join(" ", row))
          .matches(
              "emulated0 \\d+ \\d+ RC RTS reactor \\d+ \\d+ \\d+/\\d+ - \\d+/\\d+ \\d+/\\d+"
                  + " 0 0 - immediate=\\d+ message=\\d+ receive=\\d+");
    }
    assertThat(rows.get(1).get(LQPN)).isEqualTo(rows.get(2).get(RQPN));
    assertThat(rows.get(1).get(RQPN)).isEqualTo(rows.get(2).get(LQPN));
    return rows;
  }

  private static boolean haveGrown(List<List<String>> rows) {
    for (int column : new int[] {SENDS, RECEIVES}) {
      for (int pair = 1; pair <= 2; pair++) {
        if (number(rows.get(pair + 2), column) <= number(rows.get(pair), column)) {
          return false;
        }
      }
    }
    return true;
  }

  private static List<String> cells(String line) {
    return Arrays.asList(line.strip().split(" +", -1));
  }

  private static long number(List<String> row, int column) {
    return Long.parseLong(row.get(column));
  }

  @Test
  void saysWhyAProcessHasNoQueuePairs() throws Exception {
    long ended;
    try (EchoProgram program = EchoProgram.idle()) {
      ended = program.pid();
      expectFailure(ended, "a JVM without queue pairs of Verbena", "`verbena stat` lists");
      assertThat(Run.of("stat").out()).doesNotContainPattern("(?m)^ *" + ended + " ");
    }
    expectFailure(ended, "none has this id", "`verbena stat` lists");
    expectFailure(ProcessHandle.current().pid(), "is this one", "`verbena stat` lists");
  }

  @Test
  void saysThatAJvmLetsNobodyLookIntoIt() throws Exception {
    try (EchoProgram program = EchoProgram.idle("-XX:+DisableAttachMechanism")) {
      expectFailure(
          program.pid(), "was started with -XX:+DisableAttachMechanism", "start it without");
    }
  }

  @Test
  void leavesAloneWhatIsNoJvm() throws Exception {
    Process process = new ProcessBuilder("sleep", "60").start();
    try {
      expectFailure(process.pid(), "no JVM that shows itself", "-XX:-UsePerfData");
      assertThat(process.isAlive()).isTrue();
    } finally {
      process.destroyForcibly();
    }
  }

  private static void expectFailure(long pid, String why, String advice) {
    Run run = Run.of("stat " + pid);

    assertThat(run.exitCode()).isEqualTo(1);
    assertThat(run.out()).isEmpty();
    assertThat(run.err()).startsWith("verbena: process " + pid + ": ").contains(why, advice);
  }
}
