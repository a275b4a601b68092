// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.util.Locale;
import java.util.Map;

/** Prints the figures of all participants as ratios to perftest's. */
final class CostTable {
  private static final String FORMAT = "%-16s %10s  %-22s %9s  %-16s\n";

  private CostTable() {}

  /** Returns the lines of a job, with ratios to the participant {@code base}. */
  static String of(String title, Map<String, Samples> participants, String base) {
    StringBuilder text = new StringBuilder();
    text.append('\n').append(title).append('\n');
    text.append(format(FORMAT, "", "median", "(min .. max)", "/" + base, "(min .. max)"));
    participants.forEach(
        (name, samples) -> {
          Samples ratios = samples.over(participants.get(base));
          text.append(
              format(
                  FORMAT,
                  name,
                  number(samples.median()),
                  range(samples),
                  number(ratios.median()),
                  range(ratios)));
        });
    return text.toString();
  }

  private static String range(Samples samples) {
    return "(" + number(samples.least()) + " .. " + number(samples.most()) + ")";
  }

  private static String number(double value) {
    return format(value >= 100 ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value);
  }

  @SuppressWarnings("AnnotateFormatMethod")
  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
