// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.rnics;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A JVM whose rdma-core is the fake one of {@code transport-disni}, with tests that run in it. */
final class FakeRnics {
  private static final Path DISNI = Path.of("../transport-disni").toAbsolutePath().normalize();

  private FakeRnics() {}

  /**
   * Runs test classes; skips the test, and says so, where the fake was not built.
   *
   * @param options of the JVM
   * @param environment that it has beside the fake's own
   * @return what it printed, with its exit code at the end
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
    ProcessBuilder program = new ProcessBuilder(command).redirectErrorStream(true);
    program.environment().put("LD_PRELOAD", fake.toString());
    program.environment().put("FAKE_RDMA_CORE", DISNI + "/src/test/native/fake-rdma-core/profiles");
    program.environment().putAll(environment);
    Process process = program.start();
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    return output + "exit code " + process.waitFor();
  }
}
