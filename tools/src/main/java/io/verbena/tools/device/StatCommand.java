package io.verbena.tools.device;

import io.verbena.tools.end.ToolFailure;
import io.verbena.verbs.Device;
import io.verbena.verbs.DeviceCounters;
import io.verbena.verbs.DeviceCounters.Counter;
import io.verbena.verbs.VerbsProviders;
import java.io.PrintWriter;
import java.net.URI;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code verbena stat URI}. */
@Command(
    name = "stat",
    header = "tell what a device counts, as rdma statistic",
    description = {
      "Prints what the device of a URI has counted, for all programs that use it: a line now, and"
          + " more with --count. What it does not count has no column. Emulated HCAs count within"
          + " one JVM, so that this tells only of those that others can reach."
    },
    footer = {"  verbena stat disni://10.0.0.1", "  verbena stat disni://10.0.0.1 -i 2 -n 30"})
public final class StatCommand implements Callable<Integer> {
  @Spec private @Nullable CommandSpec spec;

  @Parameters(paramLabel = "URI", description = "An address that the device has or reaches.")
  private URI uri = URI.create("");

  @Option(
      names = {"-i", "--interval"},
      paramLabel = "SECONDS",
      description = "Between two lines (default: ${DEFAULT-VALUE}).")
  private int interval = 1;

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      description = "Lines (default: ${DEFAULT-VALUE}).")
  private int count = 1;

  @Override
  public Integer call() throws InterruptedException, ToolFailure {
    CommandSpec command = Objects.requireNonNull(spec, "spec");
    if (interval < 1) {
      throw wrong(command, "-i: " + interval);
    }
    if (count < 1) {
      throw wrong(command, "-n: " + count);
    }
    try (Device device = VerbsProviders.find(uri).open(uri)) {
      DeviceCounters counters = device.counters();
      Set<Counter> counted = new TreeSet<>(counters.counted());
      if (counted.isEmpty()) {
        throw new ToolFailure(
            "device " + device.attributes().name() + " counts nothing",
            "see what its own tools tell");
      }
      PrintWriter out = command.commandLine().getOut();
      out.println(line(counted, each -> each.name().toLowerCase(Locale.ROOT)));
      for (int i = 0; i < count; i++) {
        if (i > 0) {
          TimeUnit.SECONDS.sleep(interval);
        }
        out.println(line(counted, each -> Long.toString(counters.get(each))));
        out.flush();
      }
    }
    return 0;
  }

  private static String line(Set<Counter> counted, Function<Counter, String> cell) {
    StringBuilder line = new StringBuilder();
    for (Counter each : counted) {
      line.append(String.format("%16s", cell.apply(each)));
    }
    return line.toString();
  }

  private static ParameterException wrong(CommandSpec command, String what) {
    return new ParameterException(command.commandLine(), what + " (expected: >= 1)");
  }
}
