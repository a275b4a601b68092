// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation;

import static java.util.Objects.requireNonNull;

import io.verbena.simulation.scenario.Arena;
import io.verbena.simulation.scenario.RunResult;
import io.verbena.simulation.scenario.Scenario;
import io.verbena.simulation.scenario.Trace;
import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The command line program {@code bin/simulate}. */
@Command(
    name = "simulate",
    mixinStandardHelpOptions = true,
    description = {
      "Runs generated programs on emulated HCAs in virtual time, over a wire that loses, delays,"
          + " reorders, duplicates and corrupts packets, and checks every result against a model.",
      "With --seed alone, replays one seed and prints a trace line for each packet."
    })
final class Simulate implements Callable<Integer> {
  private static final int SHRINKING_RUNS = 5000;
  private static final int FAILED = 1;

  /** The number of reports without progress, one a second, after which seeds count as stalled. */
  private static final int STALLED_REPORTS = 10;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--program",
      description = "Kind of program: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
  private Program program = Program.VERBS;

  @Option(names = "--seeds", description = "Number of seeds to run. Default: 20000.")
  private long seeds;

  @Option(names = "--seed", description = "The first seed, or the seed to replay.")
  private @Nullable Long seed;

  @Option(names = "--minutes", description = "Run time in minutes, instead of --seeds.")
  private double minutes;

  @Option(names = "--threads", description = "Number of threads. Default: one per CPU.")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(
      names = "--shrunken",
      description = "With --seed: shrink the failing run first, then replay the result.")
  private boolean shrunken;

  private long lastDone;
  private int quiet;
  private final PrintWriter out = new PrintWriter(System.out, true, Charset.defaultCharset());

  /** Runs the command and exits with its code. */
  public static void main(String[] args) {
    System.exit(
        new CommandLine(new Simulate()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
  }

  @Override
  public Integer call() throws InterruptedException {
    check("--threads", threads, 1);
    check("--seeds", (double) seeds, 0);
    check("--minutes", minutes, 0);
    Long first = seed;
    if (first != null && seeds == 0 && minutes == 0) {
      return replay(first);
    }
    return runMany(first == null ? 0 : first);
  }

  private void check(String option, double value, int least) {
    if (!(value >= least)) {
      throw new ParameterException(
          requireNonNull(spec).commandLine(),
          option + ": " + value + " (expected: at least " + least + ")");
    }
  }

  private int runMany(long first) throws InterruptedException {
    long count = minutes > 0 ? Long.MAX_VALUE : seeds > 0 ? seeds : 20_000;
    SeedRunner runs = new SeedRunner(program, first, count);
    long begin = System.nanoTime();
    long limit = (long) (minutes * Duration.ofMinutes(1).toNanos());
    Long failed =
        runs.run(
            threads,
            done -> {
              long nanos = System.nanoTime() - begin;
              out.printf("%d seeds, %.0f per second%n", done, done * 1e9 / nanos);
              reportStalled(runs, done);
              if (limit > 0 && nanos > limit) {
                runs.stop();
              }
            });
    double seconds = (System.nanoTime() - begin) / 1e9;
    out.printf(
        "%d seeds in %.1f s, %.0f per second, %.0f per second of CPU; %d packets, %d faults on them; %s%n",
        runs.completed(),
        seconds,
        runs.completed() / seconds,
        runs.completed() / runs.cpuSeconds(),
        runs.packets(),
        runs.injectedFaults(),
        failed == null ? "no violation" : "seed " + failed + " FAILED");
    if (failed != null) {
      Throwable failure = runs.failure();
      if (failure != null) {
        failure.printStackTrace(out);
      }
      shrink(failed);
      return FAILED;
    }
    return 0;
  }

  /** Prints the running seeds if no seed has ended for {@link #STALLED_REPORTS} reports. */
  private void reportStalled(SeedRunner runs, long done) {
    quiet = done == lastDone ? quiet + 1 : 0;
    lastDone = done;
    if (quiet >= STALLED_REPORTS) {
      out.printf("no seed has ended for %d s; running: %s%n", quiet, runs.running());
    }
  }

  private Scenario shrink(long failed) {
    Shrinker shrinker = new Shrinker(SHRINKING_RUNS);
    Scenario scenario = shrinker.shrink(program.generate(failed));
    out.printf("seed %d, shrunken in %d runs:%n", failed, shrinker.runs());
    scenario.print(out);
    out.printf("%s%n", scenario.run(new Arena(), null, null).failure());
    out.printf("replay with: bin/simulate --program %s --seed %d [--shrunken]%n", program, failed);
    return scenario;
  }

  private int replay(long seedToReplay) {
    Scenario scenario = shrunken ? shrink(seedToReplay) : program.generate(seedToReplay);
    if (!shrunken) {
      scenario.print(out);
    }
    RunResult result = scenario.run(new Arena(), new Trace(out), null);
    Throwable failure = result.failure();
    if (failure != null) {
      failure.printStackTrace(out);
      return FAILED;
    }
    out.printf(
        "no violation; %d packets, %d faults on them%n", result.packets(), result.injectedFaults());
    return 0;
  }
}
