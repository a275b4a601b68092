// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.io.PrintWriter;
import java.util.List;

/** Prints results as perftest does. */
final class TableOutput implements Output {
  private static final String LINE = "-".repeat(87);

  private final PrintWriter out;
  private final boolean histogram;

  TableOutput(PrintWriter out, boolean histogram) {
    this.out = out;
    this.histogram = histogram;
  }

  @Override
  public void begin(PerfPlan plan, List<String> facts, String titles) {
    out.println(LINE);
    out.println(" ".repeat(20) + plan.title());
    facts.forEach(fact -> out.println(" " + fact));
    out.println(LINE);
    out.println(titles);
    out.flush();
  }

  @Override
  public void result(Result result) {
    out.println(result.line());
    if (histogram && !result.histogram().isEmpty()) {
      out.print(result.histogram().text());
    }
    out.flush();
  }

  @Override
  public void end() {
    out.println(LINE);
    out.flush();
  }
}
