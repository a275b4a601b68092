// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/** The RNR timer codes (IBTA volume 1, table 45). */
public final class RnrTimer {
  private static final int[] MICROS = {
    655_360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1_280, 1_920, 2_560, 3_840,
    5_120, 7_680, 10_240, 15_360, 20_480, 30_720, 40_960, 61_440, 81_920, 122_880, 163_840, 245_760,
    327_680, 491_520
  };

  private RnrTimer() {}

  /** Returns the time in nanoseconds of a code of 0 to 31. */
  public static long nanos(int code) {
    return MICROS[code] * 1000L;
  }
}
