// SPDX-License-Identifier: Apache-2.0
package io.verbena.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that no input makes a parser throw an undeclared exception or return a wrong result. */
class ShortRunTest {
  private static final Path CORPUS = Path.of("corpus");
  private static final int INPUTS = 20_000;

  @ParameterizedTest
  @EnumSource
  void survivesWhatLongRunsFound(Target target) throws IOException {
    for (byte[] input : corpus(target)) {
      feed(target, input);
    }
  }

  @ParameterizedTest
  @EnumSource
  void survivesGoodInputsMadeBad(Target target) throws IOException {
    long seed = 1;
    Mutations mutations = new Mutations(corpus(target), new Random(seed), target.longest());
    for (int i = 0; i < INPUTS; i++) {
      feed(target, mutations.next());
    }
  }

  private static void feed(Target target, byte[] input) {
    try {
      target.feed(input);
    } catch (Throwable e) {
      throw new AssertionError(target + ": " + HexFormat.of().formatHex(input), e);
    }
  }

  private static List<byte[]> corpus(Target target) throws IOException {
    try (Stream<Path> files = Files.list(CORPUS.resolve(target.label()))) {
      List<byte[]> inputs = files.sorted().map(ShortRunTest::read).toList();
      assertThat(inputs).as("inputs in %s", CORPUS.resolve(target.label())).isNotEmpty();
      return inputs;
    }
  }

  private static byte[] read(Path file) {
    try {
      return Files.readAllBytes(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
