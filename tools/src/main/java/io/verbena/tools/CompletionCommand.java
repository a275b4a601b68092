// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import java.io.PrintWriter;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code verbena completion}. */
@Command(
    name = "completion",
    header = "print a script that completes commands and options in bash and zsh",
    description = "Source what it prints.",
    footer = "  source <(verbena completion)")
final class CompletionCommand implements Runnable {
  @Spec private @Nullable CommandSpec spec;

  CompletionCommand() {}

  @Override
  public void run() {
    if (spec == null) {
      throw new IllegalStateException("completion: not run by a command line");
    }
    CommandLine root = spec.root().commandLine();
    PrintWriter out = root.getOut();
    out.println(AutoComplete.bash(root.getCommandName(), root));
    out.flush();
  }
}
