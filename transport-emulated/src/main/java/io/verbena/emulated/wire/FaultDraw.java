// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

import java.util.Arrays;

/**
 * Draws which faults of a schedule strike, each by its own salt and the number of its looks: a pure
 * function of the schedule and of which packets are sent when.
 */
public final class FaultDraw {
  private Fault[] faults;
  private long[] looks;
  private long chance;

  /** Draws from the faults of a schedule, none of which has looked at anything. */
  public FaultDraw(FaultSchedule schedule) {
    faults = schedule.faults().toArray(new Fault[0]);
    looks = new long[faults.length];
  }

  /** Adds a fault behind the others. */
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
   * Returns whether a fault strikes a packet; to be called once for each packet.
   *
   * @param source number of the sending port
   * @param destination number of the receiving port
   * @param ordinal number of the packet
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
   * Returns the random value of the last strike; it is the salt of the same fault of one packet.
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
