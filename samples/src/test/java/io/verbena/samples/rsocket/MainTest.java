// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.rsocket;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.samples.program.Program;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
  private final ByteArrayOutputStream output = new ByteArrayOutputStream();

  @Test
  void runsWholeOverBothAndChecksAll() {
    assertThat(run("--uri", "emulated://rsocket-sample-test")).describedAs(text()).isZero();

    assertThat(text())
        .contains("ticks over RDMA", "ticks over TCP")
        .contains("RDMA : TCP", "14 of 14 checks passed")
        .doesNotContain("FAILED");
  }

  @Test
  void failsForASchemeThatNobodyHas() {
    assertThat(run("--uri", "nosuch://there")).isEqualTo(1);

    assertThat(text()).contains("FAILED: ", "nosuch", "emulated");
  }

  @Test
  void explainsItsOptionsWhenTheyAreWrong() {
    assertThat(run("--nosuch")).isEqualTo(2);

    assertThat(text()).contains("--nosuch", "Usage: rsocket", "--uri");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--fast", "--slow", "--limit"})
  void refusesACountOfNone(String option) {
    PrintStream out = new PrintStream(output, true, StandardCharsets.UTF_8);

    assertThat(Program.run(new Main(out, false), out, option, "0")).isEqualTo(2);

    assertThat(text()).contains("'" + option + "'", "0 (expected: a whole number from 1");
  }

  private int run(String... args) {
    List<String> all = new ArrayList<>(List.of("--fast", "3000", "--slow", "800"));
    all.addAll(List.of(args));
    PrintStream out = new PrintStream(output, true, StandardCharsets.UTF_8);
    return Program.run(new Main(out, false), out, all.toArray(String[]::new));
  }

  private String text() {
    return output.toString(StandardCharsets.UTF_8);
  }
}
