// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;

/**
 * Checks numbers for the statistics of a cryptographic generator. Each bound fails by chance less
 * than once in 10<sup>9</sup> runs; counters, fixed steps and short cycles always fail.
 */
final class Randomness {
  /** A normal value exceeds this number of standard deviations once in 10<sup>12</sup> times. */
  private static final double DEVIATIONS = 7.2;

  /** A chi-square of 255 degrees of freedom passes each bound once in 10<sup>12</sup> times. */
  private static final double LEAST_CHI_SQUARE = 120;

  private static final double MOST_CHI_SQUARE = 470;

  /** 4096 numbers of 24 bits contain half a repetition on average. */
  private static final int MOST_REPETITIONS = 12;

  private Randomness() {}

  static void assertRandom(int[] numbers, int bits) {
    for (int bit = 0; bit < bits; bit++) {
      assertFair(numbers, bit);
    }
    int[] steps = new int[numbers.length - 1];
    for (int i = 0; i < steps.length; i++) {
      steps[i] = numbers[i + 1] - numbers[i];
    }
    for (int low = 0; low + 8 <= bits; low += 8) {
      assertEven(numbers, low, "numbers");
      assertEven(steps, low, "steps from one number to the next");
    }
    assertThat(repetitions(numbers))
        .as("numbers that were there before")
        .isLessThan(MOST_REPETITIONS);
    assertThat(repetitions(steps)).as("steps that were there before").isLessThan(MOST_REPETITIONS);
  }

  private static void assertFair(int[] numbers, int bit) {
    long ones = Arrays.stream(numbers).filter(number -> (number >>> bit & 1) != 0).count();
    double deviations = (ones - numbers.length / 2.0) / Math.sqrt(numbers.length / 4.0);
    assertThat(deviations).as("bit %d set", bit).isBetween(-DEVIATIONS, DEVIATIONS);
  }

  private static void assertEven(int[] numbers, int low, String what) {
    int[] counts = new int[256];
    for (int number : numbers) {
      counts[number >>> low & 0xff]++;
    }
    double expected = numbers.length / 256.0;
    double chiSquare = 0;
    for (int count : counts) {
      chiSquare += (count - expected) * (count - expected) / expected;
    }
    assertThat(chiSquare)
        .as("chi-square of bits %d to %d of %s", low, low + 7, what)
        .isBetween(LEAST_CHI_SQUARE, MOST_CHI_SQUARE);
  }

  private static long repetitions(int[] numbers) {
    return numbers.length - Arrays.stream(numbers).distinct().count();
  }
}
