// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import picocli.CommandLine;
import picocli.CommandLine.Model.UsageMessageSpec;

/** Formats the help of every command as a manual page. */
final class ManualPage {
  private static final int WIDTH = 96;
  private static final Map<String, String> EXIT_CODES = new TreeMap<>();

  static {
    EXIT_CODES.put("0", "All went well.");
    EXIT_CODES.put("1", "It failed: the message says what to do next.");
    EXIT_CODES.put("2", "The command line is wrong; nothing was done.");
  }

  private ManualPage() {}

  static CommandLine dressed(CommandLine line) {
    line.setCaseInsensitiveEnumValuesAllowed(true);
    dress(line, "");
    return line;
  }

  private static void dress(CommandLine line, String before) {
    String name = before + line.getCommandName();
    line.addMixin("help", new HelpOption());
    UsageMessageSpec usage = line.getCommandSpec().usageMessage();
    usage
        .width(WIDTH)
        .headerHeading("NAME%n  " + name.replace(' ', '-') + " - ")
        .synopsisHeading("%nSYNOPSIS%n  ")
        .descriptionHeading("%nDESCRIPTION%n")
        .parameterListHeading("%nARGUMENTS%n")
        .optionListHeading("%nOPTIONS%n")
        .commandListHeading("%nCOMMANDS%n")
        .exitCodeListHeading("%nEXIT STATUS%n")
        .footerHeading("%nEXAMPLES%n");
    usage.exitCodeList(EXIT_CODES);
    List<CommandLine> below = List.copyOf(line.getSubcommands().values());
    below.forEach(each -> dress(each, name + " "));
  }
}
