// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.util.Arrays;

/** The times of all round trips. For one thread at a time. */
final class RoundTrips {
  private final long[] nanos;
  private int count;
  private long since;

  RoundTrips(int rounds) {
    nanos = new long[rounds];
  }

  /** Starts the clock of the first round. */
  void begin() {
    count = 0;
    since = System.nanoTime();
  }

  /** Ends a round and begins the next one. */
  void round() {
    long now = System.nanoTime();
    nanos[count++] = now - since;
    since = now;
  }

  /** Returns the median of half a round trip in us: perftest's typical latency of messages. */
  double halfMicros() {
    return wholeMicros() / 2;
  }

  /** Returns the median of a round trip in us: perftest's typical latency of READs. */
  double wholeMicros() {
    if (count == 0) {
      throw new IllegalStateException("round trips: 0 (expected: > 0)");
    }
    long[] sorted = Arrays.copyOf(nanos, count);
    Arrays.sort(sorted);
    return sorted[count / 2] / 1e3;
  }
}
