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
 * A sanitizer with which the POM has built the native libraries. Any report ends the program with
 * an error.
 */
enum Sanitizer {
  /** Finds invalid memory accesses and undefined behaviour of C. */
  ADDRESS(
      "address,undefined",
      "libasan.so",
      "native-asan",
      "../fake-rdma-core",
      // The JVM handles SIGSEGV itself and does not free its memory at exit.
      "ASAN_OPTIONS=detect_leaks=0:handle_segv=0",
      "UBSAN_OPTIONS=print_stacktrace=1"),

  /** Finds data races between native calls, see {@code java_calls.c}. */
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
    // Relative, because LD_PRELOAD splits paths at blanks, which the clone's folder may contain.
    this.fake = Path.of("target", libraries, fake, "libfake_rdma_core.so").normalize();
    this.environment = String.join(" ", environment);
  }

  /**
   * Skips the test with a message if the libraries were not built or the sanitizer does not run.
   */
  void assumeBuilt(Path folder) throws Exception {
    FakeRdmaCore.assumeLoaded();
    NativeClaims.assumeSanitizer(compiled, folder);
    assumeTrue(
        Files.isDirectory(libraries.resolve("io")) && Files.isRegularFile(fake),
        () -> libraries + ": no sanitized libraries");
  }

  /** Runs a program in a JVM with this sanitizer; returns its output, or fails if it fails. */
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

  /** Returns a human-readable name. */
  @Override
  public String toString() {
    return compiled.replace(",", ", ").replace("undefined", "undefined behaviour");
  }

  /** Returns the sanitizers whose runtime is loaded into this process. */
  static List<Sanitizer> loaded() throws Exception {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      List<String> lines = maps.toList();
      return Stream.of(values())
          .filter(one -> lines.stream().anyMatch(line -> line.contains("/" + one.runtime)))
          .toList();
    }
  }
}
