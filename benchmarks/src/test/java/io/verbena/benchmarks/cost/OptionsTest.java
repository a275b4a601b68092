// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;

/** Tests that options with unusable numbers are rejected before a measurement begins. */
class OptionsTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "--repetitions 0",
        "--rounds -1",
        "--writes 2147483648",
        "--writes many",
        "--warm-up 0",
        "--loss 101",
        "--loss -1",
        "--loss 1%",
        "--routes NOWHERE"
      })
  void refusesWhatCannotBe(String line) {
    assertRefuses(new CommandLine(new WireCost()), line);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "--repetitions 0",
        "--rounds 0",
        "--writes 0",
        "--warm-up 1.5",
        "--layers SOCKETS"
      })
  void refusesItWithoutAWireToo(String line) {
    assertRefuses(new CommandLine(new Cost()), "--near a --far b " + line);
  }

  private static void assertRefuses(CommandLine command, String line) {
    String[] words = line.split(" ");
    var output = new StringWriter();
    int exitCode = command.setErr(new PrintWriter(output, true)).execute(words);
    assertThat(exitCode).isEqualTo(ExitCode.USAGE);
    Stream.of(words)
        .skip(words.length - 2)
        .forEach(word -> assertThat(output.toString()).contains(word));
    assertThat(output.toString()).contains("expected");
  }
}
