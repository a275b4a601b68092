// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import java.util.Arrays;

/**
 * Draws which faults of a schedule strike. Each draw depends on the fault's salt and on the number
 * of its draws so far. So the results are a pure function of the schedule and of the times at which
 * packets are sent.
 */
public final class FaultDraw {
  private Fault[] faults;
  private long[] looks;
  private long chance;

  /** Creates the draws of a schedule's faults, before any packet. */
  public FaultDraw(FaultSchedule schedule) {
    faults = schedule.faults().toArray(new Fault[0]);
    looks = new long[faults.length];
  }

  /** Adds a fault after the others. */
  public void add(Fault fault) {
    faults = Arrays.copyOf(faults, faults.length + 1);
    faults[faults.length - 1] = fault;
    looks = Arrays.copyOf(looks, faults.length);
  }

  /** Returns the number of faults. */
  public int size() {
    return faults.length;
  }

  public Fault get(int index) {
    return faults[index];
  }

  /**
   * Draws whether a fault strikes a packet. Call it once for each fault and packet.
   *
   * @param source the number of the sending port
   * @param destination the number of the receiving port
   * @param ordinal the number of the packet from this source to this destination
   */
  public boolean strikes(int index, int source, int destination, int ordinal, long now) {
    Fault fault = faults[index];
    if (!fault.concerns(source, destination, ordinal, now)) {
      return false;
    }
    long drawn = mix(fault.salt() + looks[index]++ * 0x9E3779B97F4A7C15L);
    chance = fault.ordinal() == Fault.ANY ? drawn : fault.salt();
    return fault.ordinal() != Fault.ANY
        || Long.remainderUnsigned(drawn, Fault.ALWAYS) < fault.perMillion();
  }

  /**
   * Returns the random value of the last draw: the salt of a fault that strikes only this packet,
   * in the same way.
   */
  public long chance() {
    return chance;
  }

  /** Spreads a number over all 64 bits (the finalizer of SplittableRandom). */
  public static long mix(long number) {
    long z = (number ^ (number >>> 30)) * 0xBF58476D1CE4E5B9L;
    z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
    return z ^ (z >>> 31);
  }
}
