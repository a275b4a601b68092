// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import java.io.PrintWriter;

/** Prints a line for each case while the cases run. */
final class Progress {
  private final PrintWriter out;
  private final int cases;
  private int started;

  Progress(PrintWriter out, int cases) {
    this.out = out;
    this.cases = cases;
  }

  void started(BenchCase<?> benchCase) {
    started++;
    print("[%2d/%d] %-28s ", started, cases, benchCase.id());
  }

  void again(CaseResult disturbed) {
    Figures figures = disturbed.figures();
    if (figures != null) {
      print("line %s, again ... ", Table.line(figures));
    }
  }

  void ended(CaseResult result, long nanos) {
    Figures figures = result.figures();
    if (figures == null) {
      print("FAILED: %s%n", result.failure());
      return;
    }
    Workload<?> workload = result.benchCase().workload();
    print(
        "%s %s, line %s, %s s%n",
        Table.number(figures.median() * workload.scale()),
        workload.unit(),
        Table.line(figures),
        Table.number(nanos * 1e-9));
  }

  private void print(String pattern, Object... values) {
    out.printf(pattern, values);
    out.flush();
  }
}
