// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The result of one size in a latency test, in microseconds.
 *
 * @param size bytes of a message
 * @param count rounds
 * @param min the shortest
 * @param max the longest
 * @param typical the median
 * @param average of all
 * @param deviation the standard deviation
 * @param p99 the 99th percentile
 * @param p999 the 99.9th percentile
 * @param timed whether the test ran for a time; it then has the average only
 * @param histogram of the rounds
 */
record Latency(
    int size,
    long count,
    double min,
    double max,
    double typical,
    double average,
    double deviation,
    double p99,
    double p999,
    boolean timed,
    LatencyHistogram histogram)
    implements Result {
  private static final double NANOS_PER_USEC = 1000;
  private static final double USEC_PER_SECOND = 1e6;

  static final String TITLES =
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]"
          + "    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] ";

  static final String TITLES_BY_TIME =
      " #bytes        #iterations       t_avg[usec]    tps average";

  /**
   * Creates a result from the times at which rounds began.
   *
   * @param begun nanoseconds, {@code count} of them; their differences are the rounds
   * @param parts messages in a round, by which its time is divided
   */
  static Latency of(int size, long[] begun, int count, int parts, LatencyHistogram histogram) {
    int rounds = Math.max(1, count - 1);
    double[] usec = new double[rounds];
    double sum = 0;
    for (int i = 0; i + 1 < count; i++) {
      usec[i] = (begun[i + 1] - begun[i]) / NANOS_PER_USEC / parts;
      sum += usec[i];
    }
    double average = sum / rounds;
    double squares = 0;
    for (double each : usec) {
      squares += (each - average) * (each - average);
    }
    Arrays.sort(usec);
    return new Latency(
        size,
        count,
        usec[0],
        usec[rounds - 1],
        usec[rounds / 2],
        average,
        Math.sqrt(squares / rounds),
        at(usec, 0.99),
        at(usec, 0.999),
        false,
        histogram);
  }

  /** Creates a result from the time of all rounds together. */
  static Latency of(int size, long nanos, long count, int parts, LatencyHistogram histogram) {
    double average = count == 0 ? 0 : nanos / NANOS_PER_USEC / parts / count;
    return new Latency(size, count, 0, 0, 0, average, 0, 0, 0, true, histogram);
  }

  private static double at(double[] sorted, double part) {
    return sorted[Math.min(sorted.length - 1, (int) Math.ceil(sorted.length * part))];
  }

  private double perSecond() {
    return average == 0 ? 0 : USEC_PER_SECOND / average;
  }

  @Override
  public String line() {
    if (timed) {
      return String.format(
          Locale.ROOT,
          " %-7d       %d            %-7.2f        %-7.2f",
          size,
          count,
          average,
          perSecond());
    }
    return String.format(
        Locale.ROOT,
        " %-7d %d          %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f"
            + " \t\t%-7.2f",
        size,
        count,
        min,
        max,
        typical,
        average,
        deviation,
        p99,
        p999);
  }

  @Override
  public Map<String, Number> figures() {
    Map<String, Number> figures = new LinkedHashMap<>();
    figures.put("bytes", size);
    figures.put("iterations", count);
    if (timed) {
      figures.put("t_avg_usec", average);
      figures.put("tps_average", perSecond());
    } else {
      figures.put("t_min_usec", min);
      figures.put("t_max_usec", max);
      figures.put("t_typical_usec", typical);
      figures.put("t_avg_usec", average);
      figures.put("t_stdev_usec", deviation);
    }
    histogram.addTo(figures);
    return figures;
  }
}
