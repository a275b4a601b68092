// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Plan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs cases, each in a JVM of its own with the same flags, and kills those that hang. */
final class CaseProcess {
  private static final int FIRST_WITH_ACCESS_WARNINGS = 24;
  private static final int KILL_SECONDS = 10;

  private CaseProcess() {}

  static CaseResult run(BenchCase<?> benchCase, Plan plan)
      throws IOException, InterruptedException {
    try (Scratch scratch = new Scratch()) {
      Path out = scratch.file("out");
      Path err = scratch.file("err");
      Process process =
          new ProcessBuilder(command(benchCase, plan, scratch))
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      try {
        if (!process.waitFor(plan.caseLimit().toMillis(), TimeUnit.MILLISECONDS)) {
          return new CaseResult(benchCase, null, "hung: killed after " + plan.caseLimit());
        }
      } finally {
        kill(process);
      }
      return result(benchCase, process.exitValue(), Files.readString(out), err);
    }
  }

  private static void kill(Process process) throws InterruptedException {
    if (process.isAlive() && !process.destroyForcibly().waitFor(KILL_SECONDS, TimeUnit.SECONDS)) {
      throw new IllegalStateException("process " + process.pid() + ": cannot be killed");
    }
  }

  private static CaseResult result(BenchCase<?> benchCase, int exit, String out, Path err)
      throws IOException {
    if (exit == 0) {
      return new CaseResult(benchCase, Figures.decode(out), null);
    }
    String what = exit == CaseMain.DATA_CHECK_FAILED ? "data check failed" : "exit " + exit;
    try (Stream<String> lines = Files.lines(err)) {
      String why = lines.limit(4).map(String::strip).reduce("", (a, b) -> a + " " + b);
      return new CaseResult(benchCase, null, what + ":" + why);
    }
  }

  private static List<String> command(BenchCase<?> benchCase, Plan plan, Scratch scratch) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(flags());
    command.add("-Daeron.dir=" + scratch.file("aeron"));
    // For Unix domain sockets, and for native code extracted from jars.
    command.add("-Djava.io.tmpdir=" + scratch.folder());
    command.add("-cp");
    command.add(System.getProperty("java.class.path"));
    command.add(CaseMain.class.getName());
    command.addAll(CaseMain.arguments(benchCase.id(), plan));
    return command;
  }

  /** Returns the JVM flags of all cases: no concurrent collector, memory touched in advance. */
  static List<String> flags() {
    List<String> flags =
        new ArrayList<>(
            List.of(
                "-Xms1g",
                "-Xmx1g",
                "-XX:MaxDirectMemorySize=2g",
                "-XX:+UseParallelGC",
                "-XX:+AlwaysPreTouch",
                // Agrona uses jdk.internal.misc.Unsafe.
                "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED"));
    if (Runtime.version().feature() >= FIRST_WITH_ACCESS_WARNINGS) {
      flags.add("--enable-native-access=ALL-UNNAMED");
      flags.add("--sun-misc-unsafe-memory-access=allow");
    }
    return flags;
  }
}
