// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import io.verbena.benchmarks.work.Measurement;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The figures that the JVM of a case prints on its standard output, as {@code name=value} lines.
 *
 * @param measurement what the participant did
 * @param lineBefore the cache-line round trip just before, in nanoseconds
 * @param lineAfter the same just after
 * @param otherCpus the average number of CPUs that other processes used meanwhile
 */
record Figures(Measurement measurement, double lineBefore, double lineAfter, double otherCpus) {
  private static final String MARK = "figures.";
  private static final double MOST_MOVED = 2;
  private static final double MOST_OTHERS = 0.25;

  /**
   * Returns how disturbed the case was: above 1 if the cache-line round trips before and after it
   * differ by more than a factor of 2, or if other processes used more than a quarter of a CPU.
   */
  double disturbance() {
    double moved = Math.max(lineBefore, lineAfter) / Math.min(lineBefore, lineAfter);
    return Math.max(moved / MOST_MOVED, otherCpus / MOST_OTHERS);
  }

  /** Returns whether the figures are unreliable, because the machine was too busy. */
  boolean disturbed() {
    return disturbance() > 1;
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

  /** Returns the median 99th percentile, or NaN where there is none. */
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
        MARK + "after=" + lineAfter,
        MARK + "others=" + otherCpus);
  }

  /**
   * Reads the lines that {@link #encode} wrote and ignores all other lines.
   *
   * @throws IllegalArgumentException if a figure is missing or is not a number
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
        Double.parseDouble(value(found, "after")),
        Double.parseDouble(value(found, "others")));
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
