// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Prints one JSON object: the test and its results by size. */
final class JsonOutput implements Output {
  private final PrintWriter out;
  private boolean separate;

  JsonOutput(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void begin(PerfPlan plan, List<String> facts, String titles) {
    out.print(
        "{\"test\": \""
            + plan.title()
            + "\", \"connection\": \""
            + plan.type()
            + "\", \"results\": [");
  }

  @Override
  public void result(Result result) {
    out.print(separate ? ",\n  " : "\n  ");
    separate = true;
    Map<String, Number> figures = result.figures();
    out.print(
        figures.entrySet().stream()
            .map(each -> "\"" + each.getKey() + "\": " + each.getValue())
            .collect(Collectors.joining(", ", "{", "}")));
    out.flush();
  }

  @Override
  public void end() {
    out.println("\n]}");
    out.flush();
  }
}
