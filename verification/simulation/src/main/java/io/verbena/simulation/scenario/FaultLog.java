package io.verbena.simulation.scenario;

import java.util.Arrays;

/** What the wire has done to packets, and when. */
public final class FaultLog {
  private long[] moments = new long[16];
  private long[] weights = new long[16];
  private int count;

  /**
   * Notes something.
   *
   * @param weight what it may cost
   */
  public void add(long moment, long weight) {
    if (count == moments.length) {
      moments = Arrays.copyOf(moments, 2 * count);
      weights = Arrays.copyOf(weights, 2 * count);
    }
    moments[count] = moment;
    weights[count++] = weight;
  }

  /** What all since a moment may cost together. */
  public long since(long moment) {
    long sum = 0;
    for (int i = count - 1; i >= 0 && moments[i] >= moment; i--) {
      sum += weights[i];
    }
    return sum;
  }
}
