// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Stream;

/**
 * A sanitizer with which the POM has built the native libraries. Any report of it ends the program
 * with an error.
 */
enum Sanitizer {
  /** Memory that is used after its end or beyond it, and what C leaves undefined. */
  ADDRESS(
      "address,undefined",
      "libasan.so",
      "native-asan",
      "../fake-rdma-core",
      // The JVM handles SIGSEGV itself, and frees little at its end.
      "ASAN_OPTIONS=detect_leaks=0:handle_segv=0",
      "UBSAN_OPTIONS=print_stacktrace=1"),

  /** What two native calls do at the same time, see {@code java_calls.c}. */
  THREAD(
      "thread",
      "libtsan.so",
      "native-tsan",
      ".",
      "TSAN_OPTIONS=halt_on_error=1:ignore_noninstrumented_modules=1");

  private final String compiled;
  private final String runtime;
  private final Path libraries;
  private final Path fake;
  private final String environment;

  Sanitizer(String compiled, String runtime, String libraries, String fake, String... environment) {
    this.compiled = compiled;
    this.runtime = runtime;
    this.libraries = Path.of("target", libraries).toAbsolutePath();
    // Relative: LD_PRELOAD ends a path at a blank, which the folder of a clone may have.
    this.fake = Path.of("target", libraries, fake, "libfake_rdma_core.so").normalize();
    this.environment = String.join(" ", environment);
  }

  /** Skips the test, and says so, where the libraries were not built or it does not run. */
  void assumeBuilt(Path folder) throws Exception {
    FakeRdmaCore.assumeLoaded();
    NativeClaims.assumeSanitizer(compiled, folder);
    assumeTrue(
        Files.isDirectory(libraries.resolve("io")) && Files.isRegularFile(fake),
        () -> libraries + ": no sanitized libraries");
  }

  /** Runs a program in a JVM with it; returns what it printed, or fails as it fails. */
  String run(Class<?> program, List<String> arguments) throws Exception {
    String loaded = Natives.run(List.of("cc", "-print-file-name=" + runtime)).strip();
    List<String> line = new ArrayList<>(List.of("env", "LD_PRELOAD=" + loaded + ":" + fake));
    Collections.addAll(line, environment.split(" "));
    List<String> java = new ArrayList<>(Natives.java("-XX:TieredStopAtLevel=1"));
    int classPath = java.indexOf("-cp") + 1;
    java.set(classPath, libraries + File.pathSeparator + java.get(classPath));
    line.addAll(java);
    line.add(program.getName());
    line.addAll(arguments);
    return Natives.run(line);
  }

  /** Its name for people. */
  @Override
  public String toString() {
    return compiled.replace(",", ", ").replace("undefined", "undefined behaviour");
  }

  /** Returns those whose runtime this process has. */
  static List<Sanitizer> loaded() throws Exception {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      List<String> lines = maps.toList();
      return Stream.of(values())
          .filter(one -> lines.stream().anyMatch(line -> line.contains("/" + one.runtime)))
          .toList();
    }
  }
}
