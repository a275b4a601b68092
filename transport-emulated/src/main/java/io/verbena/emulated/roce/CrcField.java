// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.roce;

/**
 * The field of CRC-32: polynomials over one bit modulo the Ethernet polynomial. The highest bit of
 * an int is the coefficient of x<sup>0</sup>, since CRC-32 starts at the low bit of a byte.
 */
final class CrcField {
  private static final int MODULUS = 0xEDB88320;
  private static final int ONE = 0x8000_0000;

  /** x<sup>-1</sup>, x<sup>-2</sup>, x<sup>-4</sup>, ... */
  private static final int[] INVERSE_SQUARES = new int[Integer.SIZE - 1];

  static {
    // The inverse of x: (P - 1) / x, since the polynomial P has the term x^0.
    int power = (MODULUS << 1) | 1;
    for (int i = 0; i < INVERSE_SQUARES.length; i++) {
      INVERSE_SQUARES[i] = power;
      power = multiply(power, power);
    }
  }

  private CrcField() {}

  /** Returns the product of {@code a} and {@code b}. */
  static int multiply(int a, int b) {
    int product = 0;
    int term = b;
    for (int bit = Integer.SIZE - 1; bit >= 0; bit--) {
      product ^= term & -((a >>> bit) & 1);
      term = (term >>> 1) ^ (MODULUS & -(term & 1));
    }
    return product;
  }

  /** Returns x to the power of {@code -exponent}. */
  static int inversePowerOfX(int exponent) {
    int power = ONE;
    for (int i = 0; i < INVERSE_SQUARES.length; i++) {
      if ((exponent >>> i & 1) != 0) {
        power = multiply(power, INVERSE_SQUARES[i]);
      }
    }
    return power;
  }
}
