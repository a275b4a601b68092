// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/**
 * Packet sequence numbers: 24 bits that wrap. Of two PSNs, the later is less than 2<sup>23</sup>
 * ahead of the other.
 */
public final class Psn {
  /** The bits of a PSN. */
  public static final int MASK = 0xff_ffff;

  private static final int UNUSED_BITS = 8;

  private Psn() {}

  /** Returns the PSN after {@code psn}. */
  public static int next(int psn) {
    return (psn + 1) & MASK;
  }

  /** Returns the PSN that is {@code packets} after {@code psn}, or before it if negative. */
  public static int plus(int psn, int packets) {
    return (psn + packets) & MASK;
  }

  /**
   * Returns how far {@code psn} is ahead of {@code other}: negative if it is earlier, 0 if both are
   * equal, -2<sup>23</sup> if both are 2<sup>23</sup> apart.
   */
  public static int difference(int psn, int other) {
    return ((psn - other) << UNUSED_BITS) >> UNUSED_BITS;
  }
}
