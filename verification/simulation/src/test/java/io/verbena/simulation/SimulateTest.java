// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SimulateTest {
  /** Below the minimum, a run would execute no scenario and so report no violation. */
  @ParameterizedTest
  @CsvSource({"--threads, 0, 1", "--seeds, -1, 0", "--minutes, -1, 0"})
  void refusesLessThanTheLeast(String option, String value, int least) {
    StringWriter told = new StringWriter();

    int code = new CommandLine(new Simulate()).setErr(new PrintWriter(told)).execute(option, value);

    assertThat(code).isEqualTo(CommandLine.ExitCode.USAGE);
    assertThat(told.toString()).contains(option + ": ", "(expected: at least " + least + ")");
  }
}
