// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.containers.hca;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.verbena.RdmaOptions;
import io.verbena.RdmaTransport;
import io.verbena.core.micrometer.VerbenaMeters;
import io.verbena.it.containers.VerbenaContainer;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The counts of Verbena's meters in a program in a container: the program prints them when it ends,
 * and the test reads them from its output.
 *
 * @param values by a meter's name, without its prefix, and its tags' values
 */
record Counts(Map<String, Long> values) {
  /**
   * The system property with the number of milliseconds for which a program waits for a silent
   * peer; without it the options have their defaults.
   */
  static final String PATIENCE_MILLIS = "verbena.it.patience";

  private static final String SAID = "counted: ";

  /** Programs that start at the same time on few CPUs take long to connect. */
  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(60);

  /** The number of keep-alive questions of an idle connection within that time. */
  private static final int KEEP_ALIVES = 4;

  private static final String PREFIX = "verbena.";
  private static final Set<String> SAME_FOR_ALL = Set.of("adapter", "provider", "device");
  private static final Pattern VALUE = Pattern.compile("(\\S+)=(\\d+)");

  /** Returns a transport that is disposed when the program ends, which then prints the counts. */
  static RdmaTransport countingTransport() {
    var registry = new SimpleMeterRegistry();
    RdmaOptions.Builder options =
        RdmaOptions.builder().meters(new VerbenaMeters(registry)).connectTimeout(CONNECT_TIMEOUT);
    Long patience = Long.getLong(PATIENCE_MILLIS);
    if (patience != null) {
      Duration limit = Duration.ofMillis(patience);
      options.keepAlive(limit.dividedBy(KEEP_ALIVES)).operationTimeout(limit);
    }
    RdmaTransport transport = RdmaTransport.create(options.build());
    Runtime.getRuntime()
        .addShutdownHook(
            new Thread(
                () -> {
                  transport.dispose();
                  System.out.println(
                      registry.getMeters().stream()
                          .filter(Counts::counts)
                          .map(each -> name(each.getId()) + '=' + value(each))
                          .sorted()
                          .collect(Collectors.joining(" ", SAID, "")));
                }));
    return transport;
  }

  private static boolean counts(Meter meter) {
    return switch (meter.getId().getType()) {
      case COUNTER, TIMER -> true;
      default -> false;
    };
  }

  private static String name(Meter.Id id) {
    List<String> parts =
        id.getTags().stream()
            .filter(tag -> !SAME_FOR_ALL.contains(tag.getKey()))
            .map(Tag::getValue)
            .toList();
    String name = id.getName().substring(PREFIX.length());
    return parts.isEmpty() ? name : name + '.' + String.join(".", parts);
  }

  private static long value(Meter meter) {
    // The first measurement of a timer is its count.
    return (long) meter.measure().iterator().next().getValue();
  }

  /** Returns the sum of the counts of programs that have ended, over all their runs. */
  static Counts of(Collection<VerbenaContainer> containers) {
    var values = new HashMap<String, Long>();
    for (VerbenaContainer each : containers) {
      String logs = each.getLogs();
      List<String> said = logs.lines().filter(line -> line.startsWith(SAID)).toList();
      if (said.isEmpty()) {
        throw new IllegalStateException("no \"" + SAID + "\": " + logs);
      }
      Matcher matcher = VALUE.matcher(String.join(" ", said));
      while (matcher.find()) {
        values.merge(matcher.group(1), Long.valueOf(matcher.group(2)), Long::sum);
      }
    }
    return new Counts(values);
  }

  /**
   * Returns the sum of all counts whose names match; 0 if there is none, as a meter exists from its
   * first count on.
   */
  long sum(String regex) {
    return values.entrySet().stream()
        .filter(each -> each.getKey().matches(regex))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }
}
