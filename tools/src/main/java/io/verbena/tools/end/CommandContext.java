// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.end;

import java.io.PrintWriter;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import picocli.CommandLine.Spec.Target;

/** The output of the command that it is mixed into, and that command's usage errors. */
@Command
public class CommandContext {
  @Spec(Target.MIXEE)
  private @Nullable CommandSpec spec;

  /** The command line of the command. */
  public final CommandLine line() {
    return Objects.requireNonNull(spec, "not part of a command").commandLine();
  }

  /** Returns the output for results. */
  public final PrintWriter out() {
    return line().getOut();
  }

  /** Returns the output for failures. */
  public final PrintWriter err() {
    return line().getErr();
  }

  /** Returns a usage error, for the caller to throw. */
  public final ParameterException wrong(String message) {
    return new ParameterException(line(), message);
  }

  /**
   * Checks a value of an option and returns it.
   *
   * @throws ParameterException unless it is between {@code least} and {@code most}
   */
  public final int range(String option, int value, int least, int most) {
    if (value < least || value > most) {
      throw wrong(option + ": " + value + " (expected: " + least + ".." + most + ")");
    }
    return value;
  }

  /**
   * Checks a value of an option and returns it.
   *
   * @throws ParameterException if it is less than {@code least}
   */
  public final int atLeast(String option, int value, int least) {
    if (value < least) {
      throw wrong(option + ": " + value + " (expected: >= " + least + ")");
    }
    return value;
  }
}
