// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The result of one size in a bandwidth test.
 *
 * @param size bytes of a message
 * @param count how many were done
 * @param peak the best rate between two of them, in bytes a second; 0 if not measured
 * @param average bytes a second
 * @param histogram from post to completion; empty at an end that only received
 * @param gbits whether the table is in Gb/s
 */
record Bandwidth(
    int size, long count, double peak, double average, LatencyHistogram histogram, boolean gbits)
    implements Result {
  private static final double MIB = 1 << 20;
  private static final double GIGABIT_BYTES = 1e9 / 8;
  private static final double MILLION = 1e6;

  static final String TITLES =
      " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]";

  static final String TITLES_IN_GBITS =
      " #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]";

  /** Creates a result from the report of the other end. */
  static Bandwidth of(PerftestReport report, boolean gbits) {
    return new Bandwidth(
        (int) report.size(),
        report.count(),
        report.peak() * MIB,
        report.average() * MIB,
        new LatencyHistogram(),
        gbits);
  }

  /** Adds the report of the other end, for both directions together. */
  Bandwidth plus(PerftestReport report) {
    return new Bandwidth(
        size,
        count,
        peak + report.peak() * MIB,
        average + report.average() * MIB,
        histogram,
        gbits);
  }

  PerftestReport report() {
    return new PerftestReport(size, count, peak / MIB, average / MIB, messageRate());
  }

  private double messageRate() {
    return average / size / MILLION;
  }

  @Override
  public String line() {
    double unit = gbits ? GIGABIT_BYTES : MIB;
    return String.format(
        Locale.ROOT,
        " %-7d    %-10d       %-7.2f            %-7.2f\t\t   %-7.6f",
        size,
        count,
        peak / unit,
        average / unit,
        messageRate());
  }

  @Override
  public Map<String, Number> figures() {
    Map<String, Number> figures = new LinkedHashMap<>();
    figures.put("bytes", size);
    figures.put("iterations", count);
    figures.put("bw_peak_mib_s", peak / MIB);
    figures.put("bw_average_mib_s", average / MIB);
    figures.put("bw_average_gbit_s", average / GIGABIT_BYTES);
    figures.put("msg_rate_mpps", messageRate());
    if (!histogram.isEmpty()) {
      histogram.addTo(figures);
    }
    return figures;
  }
}
