// SPDX-License-Identifier: Apache-2.0
package io.verbena.stress;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs jcstress in JVMs of its own, interpreted and compiled by each compiler; {@code bin/suite
 * stress} runs it longer. Running jcstress's {@code Main} directly on this module's class path also
 * compiles each actor differently and uses the compiler's own stress options.
 */
@Timeout(value = 3, unit = TimeUnit.HOURS)
@Tag("once")
class StressTest {
  private static final List<String> QUICKLY = List.of("-m", "quick", "-sc", "false", "-af", "NONE");

  /** The factor by which the run time of each test exceeds that of a build. */
  private static final int LONGER = Integer.getInteger("verbena.stress.longer", 1);

  /** Small strides for tests whose state is a whole HCA. */
  private static final List<String> SMALL_STRIDES =
      List.of("-strideSize", "64", "-strideCount", "4", "-time", millis(30));

  private static final String MISSING_FENCE = "io.verbena.stress.MissingFenceStress";

  @TempDir Path folder;

  @Test
  void noInterleavingBreaksTheQueues() throws Exception {
    Outcome outcome = run("io.verbena.stress.(WakeUp|Completion|Claim|Receive|Handover|Key)Stress");

    assertThat(outcome.exitCode).as(outcome.report).isZero();
    assertThat(outcome.report).contains("All remaining tests: 6 matching test results");
  }

  @Test
  void noInterleavingTouchesWhatIsClosed() throws Exception {
    Outcome outcome =
        run(
            "io.verbena.stress.(Deregister|QueuePair|Window|Close|Datagram|Growth)Stress.*",
            SMALL_STRIDES);

    assertThat(outcome.exitCode).as(outcome.report).isZero();
    assertThat(outcome.report).contains("All remaining tests: 25 matching test results");
  }

  /** Repeats with longer runs: on busy CPUs both threads seldom run at the same time. */
  @Test
  void findsAFenceThatIsMissing() throws Exception {
    Outcome outcome = run(MISSING_FENCE);
    for (int time = 400; outcome.exitCode == 0 && time <= 6400; time *= 4) {
      outcome = run(MISSING_FENCE, List.of("-time", millis(time)));
    }

    assertThat(outcome.exitCode).as(outcome.report).isNotZero();
    assertThat(outcome.report).contains("Observed forbidden state: 0, 0 (each missed the other)");
  }

  private Outcome run(String tests) throws IOException, InterruptedException {
    return run(tests, List.of("-time", millis(100)));
  }

  private Outcome run(String tests, List<String> options) throws IOException, InterruptedException {
    Path report = folder.resolve("report");
    List<String> command =
        new ArrayList<>(
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                "org.openjdk.jcstress.Main",
                "-t",
                tests,
                "-jvmArgs",
                "-XX:+UseSerialGC",
                "-r",
                folder.resolve("results").toString()));
    command.addAll(QUICKLY);
    command.addAll(options);
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(report.toFile())
            .start();
    boolean ended = false;
    try {
      ended = process.waitFor(8L * LONGER, TimeUnit.MINUTES);
    } finally {
      // The JVMs that jcstress has started end with it.
      process.destroyForcibly();
    }
    String text = Files.readString(report);
    assertThat(ended).as("ended within %d minutes: %s", 8 * LONGER, text).isTrue();
    if (LONGER > 1) {
      System.out.println(text);
    }
    return new Outcome(process.exitValue(), text);
  }

  private static String millis(int inBuild) {
    return Integer.toString(inBuild * LONGER);
  }

  private record Outcome(int exitCode, String report) {}
}
