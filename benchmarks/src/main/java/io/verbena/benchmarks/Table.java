// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.Comparison.Ratio;
import java.util.List;
import java.util.Locale;

/** Formats results as one human-readable table. */
final class Table {
  private static final String LEGEND =
      """

      /limit, /aeron, /peer: the figure divided by that of the workload's first limit, of Aeron's
      better mode, of the best peer; ? if the CPUs were more than twice as far apart for the one as
      for the other. line: the cache-line round trip between the two CPUs in ns, just before > just
      after; + CPUs that other processes used. ~ disturbed: the line more than doubled or halved,
      or others used more than a quarter of a CPU.
      """;
  private static final String ROW = "  %-18s %8s  %-20s %8s %7s %8s %8s %8s   %s\n";

  private Table() {}

  static String of(List<CaseResult> results) {
    StringBuilder text = new StringBuilder();
    for (Comparison comparison : Comparison.of(results)) {
      Workload<?> workload = comparison.workload();
      text.append(format("\n%s: %s, %s\n", workload.id(), workload.title(), workload.unit()));
      text.append(
          format(
              ROW,
              "",
              "median",
              "(min .. max)",
              "p99",
              "B/op",
              "/limit",
              "/aeron",
              "/peer",
              "line"));
      for (CaseResult result : comparison.results()) {
        text.append(row(result, comparison));
      }
    }
    return text.append(LEGEND).toString();
  }

  private static String row(CaseResult result, Comparison comparison) {
    String name = result.benchCase().participant();
    Figures figures = result.figures();
    if (figures == null) {
      return format("  %-18s FAILED: %s\n", name, result.failure());
    }
    double scale = comparison.workload().scale();
    return format(
        ROW,
        name,
        number(figures.median() * scale),
        "(" + number(figures.least() * scale) + " .. " + number(figures.most() * scale) + ")",
        number(figures.p99() * scale),
        number(figures.measurement().bytesPerOperation()),
        ratio(comparison.toLimit(figures)),
        ratio(comparison.toAeron(figures)),
        ratio(comparison.toPeer(figures)),
        line(figures));
  }

  /** Returns the gauges before and after, and the CPUs that other processes used. */
  static String line(Figures figures) {
    return number(figures.lineBefore())
        + " > "
        + number(figures.lineAfter())
        + format(" + %.2f", figures.otherCpus())
        + (figures.disturbed() ? " ~" : "");
  }

  /** Returns a number with three digits, or an empty string for NaN. */
  static String number(double value) {
    if (Double.isNaN(value)) {
      return "";
    }
    double size = Math.abs(value);
    return format(size >= 100 ? "%.0f" : size >= 10 ? "%.1f" : size >= 1 ? "%.2f" : "%.3f", value);
  }

  private static String ratio(Ratio ratio) {
    return number(ratio.value()) + (ratio.unlike() ? "?" : "");
  }

  @SuppressWarnings("AnnotateFormatMethod")
  private static String format(String pattern, Object... values) {
    return String.format(Locale.ROOT, pattern, values);
  }
}
