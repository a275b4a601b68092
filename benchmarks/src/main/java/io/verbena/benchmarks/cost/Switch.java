// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The guest's switch, which loses packets and counts them. */
final class Switch {
  private static final Pattern DROPPED = Pattern.compile("dropped (\\d+)");

  private Switch() {}

  /** Makes the switch lose a percentage of all packets from now on. */
  static void lose(String percent) throws IOException, InterruptedException {
    run("link-loss", percent);
  }

  /** Returns the number of packets to a host that the switch has lost so far. */
  static long lostTo(Host host) throws IOException, InterruptedException {
    String said = run("tc", "-n", "switch", "-s", "qdisc", "show", "dev", "port" + host.port);
    Matcher dropped = DROPPED.matcher(said);
    if (!dropped.find()) {
      throw new IOException("tc printed no count of dropped packets: " + said);
    }
    return Long.parseLong(dropped.group(1));
  }

  /** Returns the number of packets that have come from a host. */
  static long from(Host host) throws IOException, InterruptedException {
    return Long.parseLong(
        run(
            "ip",
            "netns",
            "exec",
            "switch",
            "cat",
            "/sys/class/net/port" + host.port + "/statistics/rx_packets"));
  }

  private static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said =
        new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    if (process.waitFor() != 0) {
      throw new IOException(List.of(command) + ": " + said);
    }
    return said;
  }
}
