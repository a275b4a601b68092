package io.verbena.benchmarks.work;

import java.time.Duration;
import java.util.Arrays;

/**
 * How far apart the two CPUs are at this moment: the time in which a cache line goes from one
 * spinning thread to another and back. Virtual CPUs move; a figure holds only beside its gauge.
 */
public final class CacheLineGauge {
  private static final Duration LIMIT = Duration.ofSeconds(10);
  private static final int WARM_UP_BATCHES = 20;
  private static final int BATCHES = 41;
  private static final int ROUNDS = 5_000;

  private CacheLineGauge() {}

  /** Takes the gauge: the median round trip in nanoseconds. About a tenth of a second. */
  public static double nanos() throws Exception {
    double[] nanos = new double[BATCHES];
    PaddedLong there = new PaddedLong();
    PaddedLong back = new PaddedLong();
    int batches = WARM_UP_BATCHES + BATCHES;
    try (Partner partner = new Partner()) {
      partner.together(
          spin -> {
            long round = 0;
            for (int batch = 0; batch < batches; batch++) {
              long began = System.nanoTime();
              round = ping(there, back, round, spin);
              if (batch >= WARM_UP_BATCHES) {
                nanos[batch - WARM_UP_BATCHES] = (System.nanoTime() - began) / (double) ROUNDS;
              }
            }
          },
          spin -> {
            long round = 0;
            for (int batch = 0; batch < batches; batch++) {
              round = pong(there, back, round, spin);
            }
          },
          Deadline.in(LIMIT));
    }
    Arrays.sort(nanos);
    return nanos[BATCHES / 2];
  }

  private static long ping(PaddedLong there, PaddedLong back, long from, Spin spin)
      throws Exception {
    long round = from;
    for (int i = 0; i < ROUNDS; i++) {
      there.setRelease(++round);
      while (back.getAcquire() != round) {
        spin.spin();
      }
    }
    return round;
  }

  private static long pong(PaddedLong there, PaddedLong back, long from, Spin spin)
      throws Exception {
    long round = from;
    for (int i = 0; i < ROUNDS; i++) {
      round++;
      while (there.getAcquire() != round) {
        spin.spin();
      }
      back.setRelease(round);
    }
    return round;
  }
}
