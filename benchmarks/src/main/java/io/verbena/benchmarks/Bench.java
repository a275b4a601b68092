// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.chart.Charts;
import io.verbena.benchmarks.work.Plan;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * Runs every case in a JVM of its own and prints one table. Exits with 1 if a case failed, hung or
 * delivered wrong data.
 */
@Command(
    name = "bench",
    mixinStandardHelpOptions = true,
    description = "Measures Verbena, its peers and the limits of this machine.")
public final class Bench implements Callable<Integer> {
  private static final Plan FULL = new Plan(Duration.ofSeconds(5), 5, Duration.ofSeconds(2));
  private static final Plan QUICK = new Plan(Duration.ofMillis(1500), 3, Duration.ofMillis(500));
  private static final String RESULTS = "${sys:verbena.bench.results:-target/bench.csv}";
  private static final Duration QUICK_LIMIT = Duration.ofSeconds(270);

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--quick",
      description =
          "Shorter warm-up and repetitions, without the workloads that need more, unless --only"
              + " names them; under 5 minutes.")
  private boolean quick;

  @Option(
      names = "--only",
      paramLabel = "PATTERN",
      description = "Only cases whose workload/participant contains this regular expression.")
  private @Nullable Pattern only;

  @Option(
      names = "--csv",
      paramLabel = "FILE",
      defaultValue = RESULTS,
      description = "Write the table for programs here (default: ${DEFAULT-VALUE}).")
  private Path csv = Path.of("");

  @Option(
      names = "--plot",
      arity = "0..1",
      paramLabel = "FILE",
      fallbackValue = RESULTS,
      description =
          "Measure nothing; draw the results of a file, by default of the last run, as charts.")
  private @Nullable Path plot;

  @Option(
      names = "--charts",
      paramLabel = "FOLDER",
      defaultValue = "${sys:verbena.bench.charts:-docs/generated}",
      description = "Where the charts of --plot go (default: ${DEFAULT-VALUE}).")
  private Path charts = Path.of("");

  @Option(names = "--list", description = "Print the cases and run none.")
  private boolean list;

  @Option(
      names = "--repeats",
      paramLabel = "N",
      description = "How often a disturbed case is run again (default: ${DEFAULT-VALUE}).")
  private int repeats = 2;

  /** Runs the command and exits with its code; see {@code --help}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Bench()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    return plot == null ? measure() : draw(plot);
  }

  private int draw(Path results) throws IOException {
    PrintWriter out = spec().commandLine().getOut();
    if (!Files.exists(results)) {
      throw new CommandLine.ParameterException(
          spec().commandLine(),
          "--plot: " + results + " (expected: a file of results; a run writes one)");
    }
    List<Path> written = Charts.write(results, charts);
    written.forEach(out::println);
    if (written.isEmpty()) {
      out.println(results + ": no results of Verbena that a chart shows");
    }
    out.flush();
    return written.isEmpty() ? 1 : 0;
  }

  private int measure() throws Exception {
    List<BenchCase<?>> cases = new ArrayList<>(Catalog.cases());
    Pattern named = only;
    if (named != null) {
      cases.removeIf(each -> !named.matcher(each.id()).find());
    } else if (quick) {
      cases.removeIf(each -> each.workload().leastWarmUp().compareTo(QUICK.warmUp()) > 0);
    }
    PrintWriter out = spec().commandLine().getOut();
    if (cases.isEmpty()) {
      throw new CommandLine.ParameterException(
          spec().commandLine(), "--only: " + only + " (expected: the name of a case; see --list)");
    }
    if (list) {
      cases.forEach(each -> out.println(each.id()));
      return 0;
    }
    Plan plan = quick ? QUICK : FULL;
    Progress progress = new Progress(spec().commandLine().getErr(), cases.size());
    CaseRunner runner =
        new CaseRunner(plan, cases.size(), repeats, quick ? QUICK_LIMIT : null, progress);
    List<CaseResult> results = new ArrayList<>();
    for (BenchCase<?> each : cases) {
      results.add(runner.run(each));
    }
    out.println("JVM: " + Runtime.version() + " " + String.join(" ", CaseProcess.flags()));
    out.print(Table.of(results));
    out.flush();
    Path folder = csv.toAbsolutePath().getParent();
    if (folder != null) {
      Files.createDirectories(folder);
    }
    Files.writeString(csv, Csv.of(comment(), results));
    out.println("Results: " + csv);
    out.flush();
    return results.stream().anyMatch(CaseResult::failed) ? 1 : 0;
  }

  private String comment() {
    return LocalDate.now(ZoneOffset.UTC)
        + (quick ? ", bin/bench --quick" : ", bin/bench")
        + ", JDK "
        + Runtime.version()
        + ", "
        + Runtime.getRuntime().availableProcessors()
        + " CPUs";
  }

  private CommandSpec spec() {
    if (spec == null) {
      throw new IllegalStateException("bench: not run by a command line");
    }
    return spec;
  }
}
