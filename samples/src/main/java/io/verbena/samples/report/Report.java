package io.verbena.samples.report;

import java.io.PrintStream;
import java.util.Locale;

/**
 * What a program shows while it runs and at its end. Confined to one thread; closing it ends the
 * display of progress.
 */
public final class Report implements AutoCloseable {
  private final PrintStream out;
  private final Progress progress;
  private final Checks checks = new Checks();
  private final ResultTable table = new ResultTable();

  /**
   * @param terminal whether {@code out} draws progress bars
   */
  public Report(PrintStream out, boolean terminal) {
    this.out = out;
    this.progress = new Progress(out, terminal);
  }

  /** Its steps. */
  public Progress progress() {
    return progress;
  }

  /** What must be true. */
  public Checks checks() {
    return checks;
  }

  /** What it took. */
  public ResultTable table() {
    return table;
  }

  /** Runs a job; one that breaks off is a check that failed. */
  public void attempt(String name, Runnable job) {
    try {
      job.run();
    } catch (RuntimeException e) {
      checks.check(name + " broke off: " + e, false);
    }
  }

  /**
   * Prints the table, what failed, and how many checks passed.
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
