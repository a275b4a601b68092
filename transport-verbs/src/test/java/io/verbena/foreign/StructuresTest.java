// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Compares the numbers in {@code Structures} with the headers of rdma-core. */
final class StructuresTest {
  private static final Path JAVA = Path.of("src/main/java22/io/verbena/foreign/Structures.java");
  private static final Path C = Path.of("src/test/native/structures.c");
  private static final Pattern IN_JAVA = Pattern.compile("static final int (\\w+) = (\\d+);");
  private static final Pattern IN_C = Pattern.compile("(?m)^LAYOUT\\((\\w+), (\\d+), ");

  @Test
  void areAssertedNumberByNumber() throws IOException {
    assertThat(read(C, IN_C)).hasSizeGreaterThan(100).isEqualTo(read(JAVA, IN_JAVA));
  }

  private static Map<String, String> read(Path file, Pattern number) throws IOException {
    Map<String, String> numbers = new TreeMap<>();
    number
        .matcher(Files.readString(file))
        .results()
        .forEach(match -> numbers.put(match.group(1), match.group(2)));
    return numbers;
  }

  @Test
  void areThoseOfTheHeaders() throws Exception {
    String compiler = Optional.ofNullable(System.getenv("CC")).orElse("cc");
    String why = "*** SKIPPED, NOT TESTED HERE: the layouts of verbs://. No C compiler or headers";
    boolean has = compile(compiler, "#include <rdma/rdma_cma.h>").isEmpty();
    if (!has) {
      System.err.println(why);
    }
    assumeTrue(has, why);

    assertThat(compile(compiler, Files.readString(C))).isEmpty();
  }

  /** Returns the compiler's messages; empty if there are none. */
  private static String compile(String compiler, String source) throws Exception {
    Process process;
    try {
      process =
          new ProcessBuilder(List.of(compiler, "-fsyntax-only", "-x", "c", "-"))
              .redirectErrorStream(true)
              .start();
    } catch (IOException e) {
      return e.toString();
    }
    try (OutputStream input = process.getOutputStream()) {
      input.write(source.getBytes(UTF_8));
    }
    String output = new String(process.getInputStream().readAllBytes(), UTF_8);
    process.waitFor();
    return output;
  }
}
