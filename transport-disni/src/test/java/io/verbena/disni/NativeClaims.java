// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;

/** Runs a C test program that prints the name of each claim that holds, as one test per claim. */
final class NativeClaims {
  private static final Pattern CLAIM = Pattern.compile("(?m)^  RUN\\((\\w+)\\);$");

  /** Device profiles for programs on the fake rdma-core. */
  private static final Path PROFILES = Path.of("src/test/native/fake-rdma-core/profiles");

  private NativeClaims() {}

  /**
   * Builds the program and runs it.
   *
   * @param source the program
   * @param tested the tested sources, and compiler options
   * @param sanitizer the sanitizer to build with; any report ends the program with an error
   */
  static Stream<DynamicTest> run(Path source, List<String> tested, String sanitizer, Path folder)
      throws Exception {
    // A build with the native libraries also has the headers.
    Natives.assumePacked();
    assumeSanitizer(sanitizer, folder);
    Path program = folder.resolve("claims");
    List<String> command =
        new ArrayList<>(
            List.of(
                Natives.compiler(),
                "-std=gnu11",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-g",
                "-fsanitize=" + sanitizer,
                "-fno-sanitize-recover=undefined",
                "-o",
                program.toString(),
                source.toString(),
                "-pthread"));
    command.addAll(tested);
    Natives.run(command);
    List<String> passed =
        Natives.run(List.of("env", "FAKE_RDMA_CORE=" + PROFILES, program.toString()))
            .lines()
            .toList();

    return CLAIM
        .matcher(Files.readString(source))
        .results()
        .map(line -> line.group(1))
        .map(claim -> dynamicTest(claim, () -> assertThat(passed).contains(claim)));
  }

  /** Returns the C files of a folder. */
  static List<String> files(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(Path::toString).filter(name -> name.endsWith(".c")).sorted().toList();
    }
  }

  /**
   * Skips the test with a message if the compiler lacks this sanitizer or the sanitizer does not
   * run. Older thread sanitizers do not run where the kernel randomizes the memory layout.
   */
  static void assumeSanitizer(String sanitizer, Path folder) throws Exception {
    Path source = folder.resolve("empty.c");
    String program = folder.resolve("empty").toString();
    Files.writeString(source, "int main(void) { return 0; }\n");
    boolean runs =
        succeeds(Natives.compiler(), "-fsanitize=" + sanitizer, "-o", program, source.toString())
            && succeeds(program);
    if (!runs) {
      System.err.println("*** SKIPPED, NOT TESTED HERE: no sanitizer runs here: " + sanitizer);
    }
    assumeTrue(runs, () -> "no sanitizer runs here: " + sanitizer);
  }

  private static boolean succeeds(String... command) throws Exception {
    ProcessBuilder program =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD);
    // The address sanitizer refuses to run if another library is loaded before it.
    program.environment().remove("LD_PRELOAD");
    return program.start().waitFor() == 0;
  }
}
