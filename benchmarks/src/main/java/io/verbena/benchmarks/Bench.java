package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Plan;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
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

  @Option(names = "--csv", paramLabel = "FILE", description = "Also write the table here.")
  private @Nullable Path csv;

  @Option(names = "--list", description = "Print the cases and run none.")
  private boolean list;

  @Option(
      names = "--repeats",
      paramLabel = "N",
      description = "How often a disturbed case is run again (default: ${DEFAULT-VALUE}).")
  private int repeats = 2;

  /** See {@code --help}. */
  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Bench()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
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
    List<Outcome> outcomes = new ArrayList<>();
    for (BenchCase<?> each : cases) {
      outcomes.add(runner.run(each));
    }
    out.println("JVM: " + Runtime.version() + " " + String.join(" ", CaseProcess.flags()));
    out.print(Table.of(outcomes));
    out.flush();
    if (csv != null) {
      Files.writeString(csv, Csv.of(outcomes));
    }
    return outcomes.stream().anyMatch(Outcome::failed) ? 1 : 0;
  }

  private CommandSpec spec() {
    if (spec == null) {
      throw new IllegalStateException("bench: not run by a command line");
    }
    return spec;
  }
}
