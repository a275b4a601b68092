package io.verbena.samples.report;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Results: a row for each measure, RDMA beside TCP. Confined to one thread. */
public final class ResultTable {
  private static final String LINE = "%-52s %12s %12s %10s%n";

  private final List<Row> rows = new ArrayList<>();

  private record Row(String what, String rdma, String tcp, String ratio) {}

  /** A measure of both twins. */
  public void add(String what, double rdma, double tcp) {
    rows.add(
        new Row(what, format(rdma), format(tcp), String.format(Locale.ROOT, "%.2f", rdma / tcp)));
  }

  /** A measure of RDMA alone. */
  public void add(String what, double rdma) {
    rows.add(new Row(what, format(rdma), "-", "-"));
  }

  /** Prints the rows under a heading. */
  public void print(PrintStream out) {
    out.printf(Locale.ROOT, LINE, "", "RDMA", "TCP", "RDMA : TCP");
    for (Row row : rows) {
      out.printf(Locale.ROOT, LINE, row.what(), row.rdma(), row.tcp(), row.ratio());
    }
  }

  private static String format(double value) {
    return String.format(Locale.ROOT, value < 100 ? "%.1f" : "%,.0f", value);
  }
}
