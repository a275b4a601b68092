// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import picocli.CommandLine.Option;

/** {@code --help}; there is no {@code -V} beside it, which means other things to some commands. */
final class HelpOption {
  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "Show this help and exit.")
  boolean asked;
}
