// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The parts in which the bytes of one message are moved, at different times and in any order: a
 * permutation of ranges that cover the message.
 */
final class MessageParts {
  private static final int MOST = 6;

  private final SplittableRandom random;
  private final int[] cuts = new int[MOST + 1];
  private final int[] order = new int[MOST];
  private int count;
  private int moved;

  MessageParts(SplittableRandom random) {
    this.random = random;
  }

  /** Splits {@code length} bytes into parts, unless the message is split already. */
  void begin(int length) {
    if (count > 0) {
      return;
    }
    count = length == 1 ? 1 : 1 + random.nextInt(MOST);
    for (int i = 1; i < count; i++) {
      cuts[i] = random.nextInt(length + 1);
    }
    cuts[0] = 0;
    Arrays.sort(cuts, 1, count);
    cuts[count] = length;
    for (int i = 0; i < count; i++) {
      int at = random.nextInt(i + 1);
      order[i] = order[at];
      order[at] = i;
    }
  }

  /** Returns the start of the part to move now. */
  int from() {
    return cuts[order[moved]];
  }

  /** Returns the length of the part to move now, which may be 0. */
  int length() {
    return cuts[order[moved] + 1] - from();
  }

  /** Records that a part was moved; returns whether there are more. */
  boolean next() {
    if (count == 0 || ++moved == count) {
      reset();
      return false;
    }
    return true;
  }

  /** Forgets the parts. */
  void reset() {
    count = 0;
    moved = 0;
  }
}
