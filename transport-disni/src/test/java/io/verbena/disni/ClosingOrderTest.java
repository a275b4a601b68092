// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code closing_test.c}: in which order {@code libdisni} destroys what DiSNI destroys in another
 * one. In C, with objects that only count, since a device that refuses would be needed otherwise.
 */
final class ClosingOrderTest {
  private static final Path SOURCE = Path.of("src/test/native/closing_test.c");
  private static final Path TESTED = Path.of("src/main/native/disni");
  private static final Pattern CLAIM = Pattern.compile("(?m)^  RUN\\((\\w+)\\);$");

  @TempDir private Path folder;

  @TestFactory
  Stream<DynamicTest> claims() throws Exception {
    // Where it was built there are headers too.
    Natives.assumePacked();
    Path program = folder.resolve("closing_test");
    Natives.run(
        List.of(
            Natives.compiler(),
            "-std=gnu11",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-g",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=undefined",
            "-o",
            program.toString(),
            SOURCE.toString(),
            TESTED.resolve("closing.c").toString(),
            TESTED.resolve("handles.c").toString(),
            "-pthread"));
    List<String> passed = Natives.run(List.of(program.toString())).lines().toList();

    return CLAIM
        .matcher(Files.readString(SOURCE))
        .results()
        .map(line -> line.group(1))
        .map(claim -> dynamicTest(claim, () -> assertThat(passed).contains(claim)));
  }
}
