package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Measurement;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What the JVM of a case hands back on its standard output, as {@code name=value} lines.
 *
 * @param measurement what the participant did
 * @param lineBefore the cache-line round trip just before, in nanoseconds
 * @param lineAfter the same just after
 */
record Figures(Measurement measurement, double lineBefore, double lineAfter) {
  private static final String MARK = "figures.";
  private static final double DISTURBED = 2;

  /** How much farther apart the CPUs were on one side of the case than on the other, from 1. */
  double disturbance() {
    return Math.max(lineBefore, lineAfter) / Math.min(lineBefore, lineAfter);
  }

  /** Whether the CPUs moved meanwhile. */
  boolean disturbed() {
    return disturbance() > DISTURBED;
  }

  double line() {
    return Math.max(lineBefore, lineAfter);
  }

  double median() {
    return median(measurement.values());
  }

  double least() {
    return Collections.min(measurement.values());
  }

  double most() {
    return Collections.max(measurement.values());
  }

  /** The median 99th percentile, or NaN where there is none. */
  double p99() {
    return measurement.p99().isEmpty() ? Double.NaN : median(measurement.p99());
  }

  private static double median(List<Double> values) {
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }

  String encode() {
    return String.join(
        "\n",
        MARK + "values=" + join(measurement.values()),
        MARK + "p99=" + join(measurement.p99()),
        MARK + "allocated=" + measurement.bytesPerOperation(),
        MARK + "before=" + lineBefore,
        MARK + "after=" + lineAfter);
  }

  /**
   * Reads what {@link #encode} wrote, between whatever else was printed.
   *
   * @throws IllegalArgumentException if something is missing or no number
   */
  static Figures decode(String output) {
    Map<String, String> found = new TreeMap<>();
    output
        .lines()
        .filter(line -> line.startsWith(MARK) && line.contains("="))
        .forEach(
            line -> {
              int equals = line.indexOf('=');
              found.put(line.substring(MARK.length(), equals), line.substring(equals + 1));
            });
    return new Figures(
        new Measurement(
            split(value(found, "values")),
            split(value(found, "p99")),
            Double.parseDouble(value(found, "allocated"))),
        Double.parseDouble(value(found, "before")),
        Double.parseDouble(value(found, "after")));
  }

  private static String value(Map<String, String> found, String name) {
    String value = found.get(name);
    if (value == null) {
      throw new IllegalArgumentException("figures: no " + name + " in the output of the case");
    }
    return value;
  }

  private static String join(List<Double> values) {
    return values.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  private static List<Double> split(String values) {
    return values.isEmpty()
        ? List.of()
        : Arrays.stream(values.split(",", -1)).map(Double::valueOf).toList();
  }
}
