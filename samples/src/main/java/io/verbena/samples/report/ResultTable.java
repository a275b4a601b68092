// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.report;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Results: a row for each measure, a column for each transport. Confined to one thread. */
public final class ResultTable {
  private static final String NONE = "-";

  private final List<String> columns;
  private final List<Row> rows = new ArrayList<>();

  private record Row(String what, List<String> cells) {}

  /** Creates a table with these headings. */
  ResultTable(List<String> columns) {
    this.columns = List.copyOf(columns);
  }

  /** Adds a measure of both twins. */
  public void add(String what, double rdma, double tcp) {
    String ratio = String.format(Locale.ROOT, "%.2f", rdma / tcp);
    rows.add(new Row(what, List.of(format(rdma), format(tcp), ratio)));
  }

  /** Adds a measure of the first column only. */
  public void add(String what, double value) {
    rows.add(new Row(what, List.of(format(value))));
  }

  /** Prints the rows under the headings. */
  public void print(PrintStream out) {
    printRow(out, "", columns);
    rows.forEach(row -> printRow(out, row.what(), row.cells()));
  }

  private void printRow(PrintStream out, String what, List<String> cells) {
    StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-52s", what));
    for (int i = 0; i < columns.size(); i++) {
      String cell = i < cells.size() ? cells.get(i) : NONE;
      line.append(String.format(Locale.ROOT, i < 2 ? " %12s" : " %10s", cell));
    }
    out.println(line);
  }

  private static String format(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%.1f" : "%,.0f", value);
  }
}
