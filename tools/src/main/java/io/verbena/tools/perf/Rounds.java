// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import java.time.Duration;

/** Records the start of each round and decides on the next. Allocates nothing once begun. */
final class Rounds {
  private final int iterations;
  private final long nanos;
  private final int parts;
  private final long[] begun;
  private final LatencyHistogram histogram = new LatencyHistogram();
  private int count;
  private long first;
  private long last;

  /**
   * @param iterations rounds; 0 to go by time
   * @param parts messages in a round
   */
  Rounds(int iterations, Duration duration, int parts) {
    this.iterations = iterations;
    this.nanos = duration.toNanos();
    this.parts = parts;
    begun = new long[iterations];
  }

  /** Returns whether there is another round. */
  boolean hasNext() {
    if (iterations > 0) {
      return count < iterations;
    }
    // In a timed test, a round counts once the next one has begun.
    return count < 2 || System.nanoTime() - first < nanos;
  }

  /** Records that the next round begins. */
  void begin() {
    long now = System.nanoTime();
    if (count == 0) {
      first = now;
    } else {
      histogram.record((now - last) / parts);
    }
    if (iterations > 0) {
      begun[count] = now;
    }
    last = now;
    count++;
  }

  /** The result of all rounds. */
  Latency latency(int size) {
    return iterations > 0
        ? Latency.of(size, begun, count, parts, histogram)
        : Latency.of(size, last - first, Math.max(0, count - 1), parts, histogram);
  }
}
