// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.time.Duration;
import picocli.CommandLine.Option;

/** The option for the time after which a test fails. */
public class TimeoutOption extends CommandContext {
  @Option(
      names = "--timeout",
      paramLabel = "SECONDS",
      description = "Give up when nothing comes for so long (default: ${DEFAULT-VALUE}).")
  private int timeout = 60;

  /**
   * Returns the longest time without a message or completion.
   *
   * @throws picocli.CommandLine.ParameterException if it is less than a second
   */
  public final Duration limit() {
    return Duration.ofSeconds(atLeast("--timeout", timeout, 1));
  }
}
