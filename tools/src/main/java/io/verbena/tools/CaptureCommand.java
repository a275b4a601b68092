// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools;

import io.verbena.tools.end.CommandContext;
import io.verbena.tools.end.ToolFailure;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code verbena capture}. */
@Command(
    name = "capture",
    header = "run a command and write all packets of its HCA to a file, as tcpdump -w",
    description = {
      "Runs another command of verbena with the option pcap=FILE in its device's URI, and exits as"
          + " it does. The file is for Wireshark, tshark or tcpdump. It has the packets that an"
          + " emulated HCA sends and receives: roce://ADDRESS, iwarp://ADDRESS (with segments of TCP"
          + " made up around the bytes), shm://NAME, or emulated://NAME?wire=simulated."
          + " Other devices make none that could be seen here, and are refused."
    },
    footer = {
      "  verbena capture out.pcap pingpong --local -d emulated://here?wire=simulated",
      "  verbena capture out.pcap perf write bw -d roce://10.0.0.1 10.0.0.2",
      "  verbena capture out.pcap perf write bw -R -d iwarp://10.0.0.1 10.0.0.2",
      "  tshark -r out.pcap"
    })
final class CaptureCommand implements Callable<Integer> {
  /** A URI, with the option in front of it. */
  private static final Pattern ADDRESS =
      Pattern.compile("(.*?)((roce|iwarp|shm|emulated|disni|verbs)://.*)");

  /** Characters that need no escape in a URI. */
  private static final Pattern PLAIN = Pattern.compile("[\\w./~-]+");

  @Mixin private final CommandContext context = new CommandContext();

  @Parameters(index = "0", paramLabel = "FILE", description = "Written anew.")
  private Path file = Path.of("");

  @Parameters(
      index = "1..*",
      arity = "1..*",
      paramLabel = "COMMAND",
      description = "The command with all that belongs to it.")
  private List<String> command = List.of();

  CaptureCommand() {}

  @Override
  public Integer call() throws ToolFailure {
    CommandLine line = context.line();
    if (!PLAIN.matcher(file.toString()).matches()) {
      throw context.wrong("FILE: " + file + " (expected: letters, digits and . / _ ~ - alone)");
    }
    List<String> captured = new ArrayList<>();
    boolean any = false;
    for (String word : command) {
      Matcher address = ADDRESS.matcher(word);
      boolean matches = address.matches();
      captured.add(matches ? address.group(1) + captured(address.group(2)) : word);
      any |= matches;
    }
    if (!any) {
      throw context.wrong(
          "COMMAND: "
              + String.join(" ", command)
              + " (expected: one with a URI of roce://, iwarp://, shm:// or emulated://, as -d or -a)");
    }
    return Verbena.run(line.getOut(), line.getErr(), captured.toArray(new String[0]));
  }

  private String captured(String uri) throws ToolFailure {
    boolean packets = uri.matches("(roce|iwarp|shm):.*") || uri.contains("wire=");
    if (!packets) {
      throw new ToolFailure(
          "capture: " + uri + " writes no packets",
          "take roce://ADDRESS, iwarp://ADDRESS, shm://NAME, or emulated://NAME?wire=simulated;"
              + " an RNIC's are seen by its own tools");
    }
    return uri + (uri.indexOf('?') < 0 ? '?' : '&') + "pcap=" + file;
  }
}
