package io.verbena.simulation;

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
import picocli.CommandLine.Option;

/** The command {@code bin/simulate}. */
@Command(
    name = "simulate",
    mixinStandardHelpOptions = true,
    description = {
      "Runs programs on emulated HCAs in virtual time, on a wire that loses, delays, reorders,"
          + " duplicates and corrupts packets, and checks what is promised to them.",
      "With --seed alone: replays that run and traces it, packet by packet."
    })
final class Simulate implements Callable<Integer> {
  private static final int SHRINKING_RUNS = 5000;
  private static final int FAILED = 1;

  @Option(
      names = "--program",
      description = "What runs: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
  private Program program = Program.VERBS;

  @Option(names = "--seeds", description = "How many runs.")
  private long seeds;

  @Option(names = "--seed", description = "The first seed, or the one to replay.")
  private @Nullable Long seed;

  @Option(names = "--minutes", description = "Run for this long, in place of --seeds.")
  private double minutes;

  @Option(names = "--threads", description = "Threads. Default: one for each CPU.")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(names = "--shrunken", description = "With --seed: replay the shrunken run.")
  private boolean shrunken;

  private final PrintWriter out = new PrintWriter(System.out, true, Charset.defaultCharset());

  /** The entry of the program. */
  public static void main(String[] args) {
    System.exit(
        new CommandLine(new Simulate()).setCaseInsensitiveEnumValuesAllowed(true).execute(args));
  }

  @Override
  public Integer call() throws InterruptedException {
    Long first = seed;
    if (first != null && seeds == 0 && minutes == 0) {
      return replay(first);
    }
    return runMany(first == null ? 0 : first);
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
              if (limit > 0 && nanos > limit) {
                runs.stop();
              }
            });
    double seconds = (System.nanoTime() - begin) / 1e9;
    out.printf(
        "%d seeds in %.1f s, %.0f per second; %d packets, %d faults on them; %s%n",
        runs.done(),
        seconds,
        runs.done() / seconds,
        runs.packets(),
        runs.strikes(),
        failed == null ? "no violation" : "seed " + failed + " FAILED");
    if (failed != null) {
      shrink(failed);
      return FAILED;
    }
    return 0;
  }

  private Scenario shrink(long failed) {
    Shrinker shrinker = new Shrinker(SHRINKING_RUNS);
    Scenario script = shrinker.shrink(program.of(failed));
    out.printf("seed %d, shrunken in %d runs:%n", failed, shrinker.runs());
    script.print(out);
    out.printf("%s%n", script.run(new Arena(), null, null).failure());
    out.printf("replay it: bin/simulate --program %s --seed %d [--shrunken]%n", program, failed);
    return script;
  }

  private int replay(long which) {
    Scenario script = shrunken ? shrink(which) : program.of(which);
    if (!shrunken) {
      script.print(out);
    }
    RunResult outcome = script.run(new Arena(), new Trace(out), null);
    Throwable failure = outcome.failure();
    if (failure != null) {
      failure.printStackTrace(out);
      return FAILED;
    }
    out.printf(
        "no violation; %d packets, %d faults on them%n", outcome.packets(), outcome.strikes());
    return 0;
  }
}
