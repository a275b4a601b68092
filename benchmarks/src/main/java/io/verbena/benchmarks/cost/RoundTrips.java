// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.util.Arrays;

/** The times of all round trips. One thread at a time. */
final class RoundTrips {
  private final long[] nanos;
  private int count;
  private long since;

  RoundTrips(int rounds) {
    nanos = new long[rounds];
  }

  /** The first round begins now. */
  void begin() {
    count = 0;
    since = System.nanoTime();
  }

  /** A round is over, and the next one begins. */
  void round() {
    long now = System.nanoTime();
    nanos[count++] = now - since;
    since = now;
  }

  /** The median of half a round trip in microseconds: what perftest calls typical of messages. */
  double halfMicros() {
    return wholeMicros() / 2;
  }

  /** The median of a round trip in microseconds: what perftest calls typical of reads. */
  double wholeMicros() {
    if (count == 0) {
      throw new IllegalStateException("round trips: 0 (expected: > 0)");
    }
    long[] sorted = Arrays.copyOf(nanos, count);
    Arrays.sort(sorted);
    return sorted[count / 2] / 1e3;
  }
}
