// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.stat;

import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.VerbsProviders;
import java.io.PrintWriter;
import java.net.URI;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;

/** The counters of a device as a table, a column for each. */
final class DeviceTable {
  private DeviceTable() {}

  static void print(URI uri, PrintWriter out, Intervals intervals)
      throws InterruptedException, ToolFailure {
    try (Device device = VerbsProviders.find(uri).open(uri)) {
      DeviceCounters counters = device.counters();
      Set<Counter> counted = new TreeSet<>(counters.counted());
      if (counted.isEmpty()) {
        throw new ToolFailure(
            "device " + device.attributes().name() + " counts nothing",
            "look at the output of its own tools");
      }
      out.println(line(counted, each -> each.name().toLowerCase(Locale.ROOT)));
      intervals.each(
          () -> {
            out.println(line(counted, each -> Long.toString(counters.get(each))));
            out.flush();
          });
    }
  }

  private static String line(Set<Counter> counted, Function<Counter, String> cell) {
    StringBuilder line = new StringBuilder();
    for (Counter each : counted) {
      line.append(String.format("%16s", cell.apply(each)));
    }
    return line.toString();
  }
}
