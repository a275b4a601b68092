// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.verbena.it.Program;
import io.verbena.it.guest.GuestMachine;
import io.verbena.it.guest.InSoftRoceGuest;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Tests programs with native libraries that are built with the address sanitizer and the undefined
 * behaviour sanitizer: any report ends the program with an error. The address sanitizer has its
 * shadow memory beyond the 39 bits of User-mode Linux's addresses.
 */
@Tag("once")
@InSoftRoceGuest(nodes = 2, machine = GuestMachine.QEMU)
@Timeout(value = 11, unit = TimeUnit.MINUTES)
class SanitizedTest {
  /** The libraries that {@code it/pom.xml} has built, laid out as in the jar. */
  private static final Path LIBRARIES = Path.of("target/native-asan");

  /** Ten times the duration on an idle machine. */
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private static List<String> environment = List.of();

  @BeforeAll
  static void findTheSanitizer() throws IOException, InterruptedException {
    if (!Files.isDirectory(LIBRARIES.resolve("io"))) {
      String reason = "no sanitized libraries in " + LIBRARIES + ": there was no C compiler";
      System.err.println("*** SKIPPED, NOT TESTED HERE: " + reason);
      abort(reason);
    }
    String preload = Program.run("cc", "-print-file-name=libasan.so").strip();
    environment =
        List.of(
            "LD_PRELOAD=" + preload,
            // The JVM handles SIGSEGV itself, and frees little memory at its end.
            "ASAN_OPTIONS=detect_leaks=0:handle_segv=0",
            "UBSAN_OPTIONS=print_stacktrace=1");
  }

  @Test
  void ourProvidersVerbs() throws Exception {
    var line = new ArrayList<String>(List.of("env"));
    line.addAll(environment);
    line.addAll(
        Program.java(
            List.of(),
            LIBRARIES.toAbsolutePath() + File.pathSeparator + System.getProperty("java.class.path"),
            SanitizedVerbs.class));
    try (var program = Program.start(line)) {
      assertThat(program.succeed(LIMIT))
          .contains("sanitizer: true")
          .containsPattern("succeeded: ([5-9]\\d|\\d{3})\n")
          .doesNotContain("runtime error");
    }
  }

  @Test
  void aStockProgram() throws Exception {
    try (Stream<Path> files = Files.walk(LIBRARIES)) {
      Path library = files.filter(file -> file.endsWith("libdisni.so")).findFirst().orElseThrow();
      var jvm = new StockJvm(environment, library.toAbsolutePath().getParent());
      StockTest.run(jvm, SendReceiveProgram.class, 18_730, 2, 30);
    }
  }
}
