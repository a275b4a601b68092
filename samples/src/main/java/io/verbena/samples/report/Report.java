// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.report;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/**
 * Prints the progress of a program, and its figures and checks at the end. Confined to one thread;
 * closing it ends the display of progress.
 */
public final class Report implements AutoCloseable {
  private final PrintStream out;
  private final Progress progress;
  private final Checks checks = new Checks();
  private final ResultTable table;

  private Report(PrintStream out, boolean terminal, List<String> columns) {
    this.out = out;
    this.progress = new Progress(out, terminal);
    this.table = new ResultTable(columns);
  }

  /**
   * A report of both twins.
   *
   * @param terminal whether {@code out} draws progress bars
   */
  public Report(PrintStream out, boolean terminal) {
    this(out, terminal, List.of("RDMA", "TCP", "RDMA : TCP"));
  }

  /**
   * A report of one transport.
   *
   * @param terminal whether {@code out} draws progress bars
   * @param transport its name
   */
  public Report(PrintStream out, boolean terminal, String transport) {
    this(out, terminal, List.of(transport));
  }

  /** The display of progress. */
  public Progress progress() {
    return progress;
  }

  /** The checks. */
  public Checks checks() {
    return checks;
  }

  /** The table of figures. */
  public ResultTable table() {
    return table;
  }

  /** Runs a job; a job that throws is a failed check. */
  public void attempt(String name, Runnable job) {
    try {
      job.run();
    } catch (RuntimeException e) {
      checks.check(name + " broke off: " + e, false);
    }
  }

  /**
   * Prints the table, the failed checks, and the number of passed ones.
   *
   * @return the exit code: 0 if every check passed, else 1
   */
  public int conclude() {
    out.println();
    table.print(out);
    out.println();
    for (String failed : checks.failed()) {
      out.println("FAILED: " + failed);
    }
    out.printf(
        Locale.ROOT,
        "%d of %d checks passed%n",
        checks.count() - checks.failed().size(),
        checks.count());
    return checks.failed().isEmpty() ? 0 : 1;
  }

  @Override
  public void close() {
    progress.close();
  }
}
