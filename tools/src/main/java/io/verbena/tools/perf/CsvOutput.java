// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Prints a line of comma-separated values for each size, under a line of names. */
final class CsvOutput implements Output {
  private final PrintWriter out;
  private boolean headed;

  CsvOutput(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void begin(PerfPlan plan, List<String> facts, String titles) {}

  @Override
  public void result(Result result) {
    Map<String, Number> figures = result.figures();
    if (!headed) {
      headed = true;
      out.println(String.join(",", figures.keySet()));
    }
    out.println(figures.values().stream().map(Object::toString).collect(Collectors.joining(",")));
    out.flush();
  }

  @Override
  public void end() {}
}
