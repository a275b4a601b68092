// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DemoTest {
  private static final String URI = "emulated://demo-test";

  @TempDir Path folder;

  private final ByteArrayOutputStream output = new ByteArrayOutputStream();
  private Path file;

  @BeforeEach
  void writeASmallFile() throws IOException {
    file = SampleFile.in(folder);
  }

  @Test
  void succeedsAndShowsBothTwins() {
    assertThat(run("--uri", URI)).describedAs(text()).isZero();

    assertThat(text())
        .contains("(a) list", "(b) read", "(c) write", "(d) stream", "(e) draw")
        .contains("(f) list", "(g) lease", "RDMA : TCP")
        .doesNotContain("FAILED");
  }

  @Test
  void failsAndNamesWhatReadAnotherDigest() {
    String wrong = "ab".repeat(32);

    assertThat(run("--uri", URI, "--sha256", wrong)).isEqualTo(1);

    assertThat(text())
        .contains("FAILED: digest of what the server loaded")
        .contains("FAILED: (b) read, RDMA: sha256: ")
        .contains("FAILED: (b) read, TCP: sha256: ")
        .contains("FAILED: (c) broke off: ", "WRONG_DIGEST")
        .contains("FAILED: (d) stream, RDMA: sha256: ")
        .contains("FAILED: (g) read, RDMA: sha256: ", "FAILED: (g) read, TCP: sha256: ")
        .contains("(expected: " + wrong + ")");
  }

  @Test
  void runsOneOfTheStoresAlone() {
    assertThat(run("--uri", URI, "--store", "GRPC")).describedAs(text()).isZero();

    assertThat(text()).contains("(f) list", "(g) lease").doesNotContain("(a)", "FAILED");
  }

  @Test
  void failsForASchemeThatNobodyHas() {
    assertThat(run("--uri", "nosuch://store")).isEqualTo(1);

    assertThat(text()).contains("FAILED: ", "nosuch", "emulated");
  }

  @Test
  void failsForAFileThatIsNotThere() {
    file = folder.resolve("none");

    assertThat(run("--uri", URI)).isEqualTo(1);

    assertThat(text()).contains("FAILED: ", "NoSuchFile", "none");
  }

  @Test
  void explainsItsOptionsWhenTheyAreWrong() {
    assertThat(run("--nosuch")).isEqualTo(2);

    assertThat(text()).contains("--nosuch", "Usage: demo", "--uri");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--window", "--rounds", "--round-trips", "--limit"})
  void refusesACountOfNone(String option) {
    PrintStream out = new PrintStream(output, true, StandardCharsets.UTF_8);

    assertThat(Demo.run(new String[] {option, "0"}, out, false)).isEqualTo(2);

    assertThat(text()).contains("'" + option + "'", "0 (expected: a whole number from 1");
  }

  private int run(String... args) {
    List<String> all =
        new ArrayList<>(
            List.of(
                "--file",
                file.toString(),
                "--rounds",
                "1",
                "--round-trips",
                "100",
                "--limit",
                "30"));
    all.addAll(List.of(args));
    PrintStream out = new PrintStream(output, true, StandardCharsets.UTF_8);
    return Demo.run(all.toArray(String[]::new), out, false);
  }

  private String text() {
    return output.toString(StandardCharsets.UTF_8);
  }
}
