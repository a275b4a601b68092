// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** Times in a histogram of fixed size. Recording allocates nothing. One thread. */
final class LatencyHistogram {
  private static final long MOST_NANOS = TimeUnit.MINUTES.toNanos(10);
  private static final int DIGITS = 3;
  private static final double NANOS_PER_USEC = 1000;

  private final Histogram histogram = new Histogram(MOST_NANOS, DIGITS);

  void record(long nanos) {
    histogram.recordValue(Math.min(MOST_NANOS, Math.max(0, nanos)));
  }

  boolean isEmpty() {
    return histogram.getTotalCount() == 0;
  }

  private double usec(double percentile) {
    return isEmpty() ? 0 : histogram.getValueAtPercentile(percentile) / NANOS_PER_USEC;
  }

  /** Adds the percentiles to the figures. */
  void addTo(Map<String, Number> figures) {
    figures.put("p50_usec", usec(50));
    figures.put("p90_usec", usec(90));
    figures.put("p99_usec", usec(99));
    figures.put("p99_9_usec", usec(99.9));
    figures.put("p99_99_usec", usec(99.99));
    figures.put("max_usec", usec(100));
  }

  /** Returns the histogram in microseconds, as HdrHistogram writes it. */
  String text() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PrintStream print = new PrintStream(bytes, false, StandardCharsets.US_ASCII);
    histogram.outputPercentileDistribution(print, 5, NANOS_PER_USEC);
    print.flush();
    return bytes.toString(StandardCharsets.US_ASCII);
  }
}
