// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

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
    assertThat(run("--uri", "emulated://grpc-sample-test")).describedAs(text()).isZero();

    assertThat(text())
        .contains("quotes over RDMA", "quotes over TCP")
        .contains("RDMA : TCP", "14 of 14 checks passed")
        .doesNotContain("FAILED");
  }

  @Test
  void failsForASchemeThatNobodyHas() {
    assertThat(run("--uri", "nosuch://there")).isEqualTo(1);

    assertThat(text()).contains("FAILED: ", "nosuch", "emulated");
  }

  @Test
  void aClientWithoutAServerSaysToStartIt() {
    assertThat(run("client", "tcp://127.0.0.1:1")).isEqualTo(1);

    assertThat(text()).contains("FAILED: ").endsWith("bin/sample grpc server ADDRESS\n");
  }

  @Test
  void explainsItsOptionsWhenTheyAreWrong() {
    assertThat(run("--nosuch")).isEqualTo(2);

    assertThat(text()).contains("--nosuch", "Usage: grpc", "--uri");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--calls", "--quotes", "--limit"})
  void refusesACountOfNone(String option) {
    PrintStream out = new PrintStream(output, true, StandardCharsets.UTF_8);

    assertThat(Program.run(new Main(out, false), out, option, "0")).isEqualTo(2);

    assertThat(text()).contains("'" + option + "'", "0 (expected: a whole number from 1");
  }

  private int run(String... args) {
    List<String> all = new ArrayList<>(List.of("--calls", "50", "--quotes", "500"));
    all.addAll(List.of(args));
    PrintStream out = new PrintStream(output, true, StandardCharsets.UTF_8);
    return Program.run(new Main(out, false), out, all.toArray(String[]::new));
  }

  private String text() {
    return output.toString(StandardCharsets.UTF_8);
  }
}
