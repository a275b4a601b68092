// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ProgressTest {
  private final ByteArrayOutputStream output = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(output, true, UTF_8);

  @Test
  void aStepIsALineWhereThereIsNoTerminal() {
    try (Progress progress = new Progress(out, false)) {
      progress.begin("one", 10).close();
      progress.begin("two", 10).close();
    }

    assertThat(text().lines())
        .satisfiesExactly(
            line -> assertThat(line).matches("one +\\d+\\.\\d s"),
            line -> assertThat(line).matches("two +\\d+\\.\\d s"));
  }

  @Test
  void drawsABarOnATerminal() {
    try (Progress progress = new Progress(out, true);
        Progress.Step step = progress.begin("reading", 10)) {
      step.advance(5);

      await()
          .atMost(Duration.ofSeconds(20))
          .untilAsserted(
              () ->
                  assertThat(text())
                      .contains("\rreading", "[###############---------------]  50 %"));
      assertThat(text()).doesNotContain("\n");
    }

    assertThat(text()).endsWith(" ".repeat(30) + System.lineSeparator());
  }

  private String text() {
    return output.toString(UTF_8);
  }
}
