// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import java.util.Arrays;

/**
 * The peer's receives that this end may send into, in the order in which the peer has posted them:
 * runs of short ones and of long ones. As the HCA takes receives in order, the first one bounds the
 * next message. On the event loop's thread only.
 */
final class SendCredits {
  private static final int LONG = 1;

  /** Each run: twice its count, plus one if its receives are long. */
  private int[] runs = new int[4];

  private int head;
  private int count;
  private int total;

  /** Returns the number of receives. */
  int total() {
    return total;
  }

  /** Returns whether the next message goes into a long receive. */
  boolean nextIsLong() {
    return count > 0 && (runs[head] & LONG) != 0;
  }

  /** Adds receives that the peer has posted. */
  void add(int receives, boolean areLong) {
    if (receives == 0) {
      return;
    }
    total += receives;
    int kind = areLong ? LONG : 0;
    int last = (head + count - 1) & (runs.length - 1);
    if (count > 0 && (runs[last] & LONG) == kind) {
      runs[last] += receives << 1;
      return;
    }
    if (count == runs.length) {
      grow();
    }
    runs[(head + count) & (runs.length - 1)] = receives << 1 | kind;
    count++;
  }

  private void grow() {
    int[] more = Arrays.copyOf(runs, runs.length * 2);
    // What had wrapped round follows what stood behind the head.
    System.arraycopy(runs, 0, more, runs.length, head);
    runs = more;
  }

  /** Removes the receive of a message. */
  void take() {
    total--;
    runs[head] -= 1 << 1;
    if (runs[head] >> 1 == 0) {
      head = (head + 1) & (runs.length - 1);
      count--;
    }
  }
}
