// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

import java.util.Arrays;

/**
 * The faults that the wire injected, each with its time and its cost: the number of retries, or of
 * nanoseconds, that it may cost a request.
 */
public final class FaultLog {
  private long[] times = new long[16];
  private long[] costs = new long[16];
  private int count;

  /**
   * Records a fault.
   *
   * @param cost the retries or nanoseconds that the fault may cost
   */
  public void record(long time, long cost) {
    if (count == times.length) {
      times = Arrays.copyOf(times, 2 * count);
      costs = Arrays.copyOf(costs, 2 * count);
    }
    times[count] = time;
    costs[count++] = cost;
  }

  /** Returns the total cost of all faults since a time. */
  public long costSince(long time) {
    long sum = 0;
    for (int i = count - 1; i >= 0 && times[i] >= time; i--) {
      sum += costs[i];
    }
    return sum;
  }
}
