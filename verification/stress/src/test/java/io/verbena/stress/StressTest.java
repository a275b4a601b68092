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
 * Runs jcstress in JVMs of its own: interpreted, and compiled by each compiler. A longer run:
 * {@code java -cp <this module's class path> org.openjdk.jcstress.Main}, which also has each actor
 * compiled differently and the compiler's own stress options.
 */
@Timeout(value = 10, unit = TimeUnit.MINUTES)
@Tag("once")
class StressTest {
  private static final List<String> QUICKLY = List.of("-m", "quick", "-sc", "false", "-af", "NONE");

  /** A state is a whole HCA there. */
  private static final List<String> SMALL_STRIDES =
      List.of("-strideSize", "64", "-strideCount", "4", "-time", "100");

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

  @Test
  void findsAFenceThatIsMissing() throws Exception {
    Outcome outcome = run("io.verbena.stress.MissingFenceStress");

    assertThat(outcome.exitCode).as(outcome.report).isNotZero();
    assertThat(outcome.report).contains("Observed forbidden state: 0, 0 (each missed the other)");
  }

  private Outcome run(String tests) throws IOException, InterruptedException {
    return run(tests, List.of("-time", "300"));
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
      ended = process.waitFor(8, TimeUnit.MINUTES);
    } finally {
      // Its own JVMs end by themselves when it does.
      process.destroyForcibly();
    }
    String text = Files.readString(report);
    assertThat(ended).as("ended within 8 minutes: %s", text).isTrue();
    return new Outcome(process.exitValue(), text);
  }

  private record Outcome(int exitCode, String report) {}
}
