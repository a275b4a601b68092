// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rnics;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.verbena.it.Program;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs tests in a JVM with the fake rdma-core of {@code transport-disni}. */
final class FakeRnics {
  /**
   * A relative path, as LD_PRELOAD ends a path at a blank, which the folder of a clone may have.
   */
  private static final Path DISNI = Path.of("../transport-disni");

  /** Shorter than the limit of a test, which would not show what the JVM printed. */
  private static final Duration LIMIT = Duration.ofMinutes(4);

  private FakeRnics() {}

  /**
   * Runs test classes; skips the test, with a message, if the fake was not built.
   *
   * @param options options of the JVM
   * @param environment variables in addition to the fake's own
   * @return the output, with the exit code at the end
   */
  static String run(List<String> options, Map<String, String> environment, List<String> classes)
      throws IOException, InterruptedException {
    Path fake = DISNI.resolve("target/fake-rdma-core/libfake_rdma_core.so");
    if (!Files.isRegularFile(fake)) {
      System.err.println("*** SKIPPED, NOT TESTED HERE: RNICs by a fake rdma-core. " + fake);
    }
    assumeTrue(Files.isRegularFile(fake), () -> fake + ": not built");
    List<String> command =
        new ArrayList<>(
            List.of(
                "env",
                "LD_PRELOAD=" + fake,
                "FAKE_RDMA_CORE=" + DISNI + "/src/test/native/fake-rdma-core/profiles"));
    environment.forEach((name, value) -> command.add(name + '=' + value));
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-XX:+UseSerialGC",
            "-XX:+IgnoreUnrecognizedVMOptions",
            "--sun-misc-unsafe-memory-access=allow",
            "--enable-native-access=ALL-UNNAMED",
            "-Dio.netty.leakDetection.level=paranoid",
            "-Dio.netty.leakDetection.targetRecords=0"));
    command.addAll(options);
    command.add("-cp");
    command.add(
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")));
    command.add(Suites.class.getName());
    command.addAll(classes);
    try (Program program = Program.start(command)) {
      int status = program.exitCode(LIMIT);
      return program.output() + "exit code " + status;
    }
  }
}
