// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

/** The lengths of blocks that slabs are cut into: 256, 384, 512, 768 and so on to 1 MiB. */
final class SizeClasses {
  static final int SMALLEST = 256;
  static final int LARGEST = 1 << 20;
  static final int COUNT = of(LARGEST) + 1;

  private static final int LOG2_SMALLEST = 8;

  private SizeClasses() {}

  /** Returns the smallest class whose blocks hold this many bytes, at most {@link #LARGEST}. */
  static int of(int length) {
    if (length <= SMALLEST) {
      return 0;
    }
    int last = length - 1;
    int log2 = 31 - Integer.numberOfLeadingZeros(last);
    int upperHalf = (last >>> (log2 - 1)) & 1;
    return 2 * (log2 - LOG2_SMALLEST) + 1 + upperHalf;
  }

  /** Returns the length of a class's blocks, in bytes. */
  static int length(int sizeClass) {
    int doublings = sizeClass >> 1;
    return (sizeClass & 1) == 0 ? SMALLEST << doublings : (SMALLEST * 3 / 2) << doublings;
  }
}
