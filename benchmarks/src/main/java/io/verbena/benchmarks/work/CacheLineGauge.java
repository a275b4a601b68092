// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeoutException;

/**
 * The current distance between the two CPUs: the time in which a cache line goes from one spinning
 * thread to another and back. Virtual CPUs move, so figures with different gauges are not
 * comparable.
 */
public final class CacheLineGauge {
  private static final Duration LIMIT = Duration.ofSeconds(30);
  private static final long WARM_UP_NANOS = 60_000_000;
  private static final long NANOS = 60_000_000;
  private static final int MOST_BATCHES = 4096;
  private static final int ROUNDS = 100;
  private static final long STOP = -1;

  private final PaddedLong there = new PaddedLong();
  private final PaddedLong back = new PaddedLong();
  private long round;

  private CacheLineGauge() {}

  /**
   * Returns the median round trip in nanoseconds. Takes about an eighth of a second, longer only if
   * other processes occupy the CPUs.
   */
  public static double nanos() throws Exception {
    CacheLineGauge gauge = new CacheLineGauge();
    double[] median = new double[1];
    try (SecondThread second = new SecondThread()) {
      second.together(spin -> median[0] = gauge.ping(spin), gauge::pong, Deadline.in(LIMIT));
    }
    return median[0];
  }

  private double ping(Spin spin) throws TimeoutException {
    batches(WARM_UP_NANOS, spin);
    double[] nanos = batches(NANOS, spin);
    there.setRelease(STOP);
    Arrays.sort(nanos);
    return nanos[nanos.length / 2];
  }

  /** Returns the round trip of each batch, measured for {@code limit} nanoseconds. */
  private double[] batches(long limit, Spin spin) throws TimeoutException {
    double[] nanos = new double[MOST_BATCHES];
    long start = System.nanoTime();
    long began = start;
    int batches = 0;
    while (batches < MOST_BATCHES && began - start < limit) {
      for (int i = 0; i < ROUNDS; i++) {
        there.setRelease(++round);
        while (back.getAcquire() != round) {
          spin.spin();
        }
      }
      long now = System.nanoTime();
      nanos[batches++] = (now - began) / (double) ROUNDS;
      began = now;
    }
    return Arrays.copyOf(nanos, batches);
  }

  private void pong(Spin spin) throws TimeoutException {
    long seen = 0;
    while (seen != STOP) {
      long now;
      while ((now = there.getAcquire()) == seen) {
        spin.spin();
      }
      back.setRelease(now);
      seen = now;
    }
  }
}
