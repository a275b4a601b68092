// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

/**
 * Counts how many receives a pool keeps posted, and how many of them its connections may promise.
 * It posts nothing itself.
 *
 * <p>Each connection may promise its peer {@code first} receives at all times, and {@code extra}
 * ones that it was granted here. The pool keeps
 *
 * <pre>{@code
 * target = (sum of all extra) + reserve
 * reserve = min(connections * first, max(256 + connections / 4, busy * first), bound / 2)
 * sum of all extra <= bound - bound / 2
 * }</pre>
 *
 * posted, where {@code busy} connections take several receives within one short period: each may
 * have sent all that it was promised at once. Once they are fewer, that is remembered for some
 * periods, by half from one to the next.
 *
 * <p><b>Why no more is promised than is posted, but for what RNR bears.</b> A promise ends when a
 * frame takes a receive, and is made anew not before that receive, or another one, is posted again.
 * So what is promised and what is posted go down and up together, and {@code promised <= posted +
 * (connections * first - reserve)} holds at all times if it holds whenever a count here changes: an
 * extra one is promised after it was posted, and is given up before the target falls. Nobody relies
 * on what is posted for busy connections, nor on its being posted at once. Up to {@code 256 /
 * first} connections have a receive for each promise. Beyond that, no more than {@code first}
 * promises of each connection have none, whatever it does: where all use them at once, the HCA of a
 * sender waits (RNR) until the loop has read a frame of another, which it does without waiting for
 * anybody.
 *
 * <p><b>Why nobody starves.</b> Nothing takes the {@code first} ones from a connection, and extra
 * ones of all are bounded. Where a connection finds none left, those that have more than an even
 * part give each receive up that is used, until all is even; a peer that uses none keeps what it
 * was promised once, and no more.
 */
final class ReceiveBudget {
  private static final int RESERVE = 256;
  private static final int RESERVE_SHARE = 4;

  private final int bound;
  private final int first;
  private int connections;
  private int busy;
  private int busyBefore;
  private int sharers;
  private int extra;
  private boolean contended;

  /**
   * @param bound the most receives that are posted
   * @param first what each connection may promise at all times
   */
  ReceiveBudget(int bound, int first) {
    this.bound = bound;
    this.first = first;
  }

  int bound() {
    return bound;
  }

  int connections() {
    return connections;
  }

  /** Returns how many receives each connection may promise at all times. */
  int first() {
    return first;
  }

  /** A connection came. */
  void join() {
    connections++;
  }

  /** A connection went, which has no extra receives. */
  void leave() {
    connections--;
  }

  /** One more connection takes several receives in this period. */
  void becameBusy() {
    busy++;
  }

  /** Another period begins, in which no connection has taken receives yet. */
  void beginPeriod() {
    busyBefore = Math.max(busy, busyBefore / 2);
    busy = 0;
  }

  /** Returns how many receives to keep posted. */
  int target() {
    long forBusy = (long) Math.max(busy, busyBefore) * first;
    long most = Math.min(Math.max(RESERVE + connections / RESERVE_SHARE, forBusy), bound / 2);
    return extra + (int) Math.min((long) connections * first, most);
  }

  /** Returns what connections may promise at the most. */
  long promised() {
    return (long) connections * first + extra;
  }

  /**
   * Returns how many of {@code wanted} receives a connection may have that has {@code held} extra
   * ones; 0 or more. The connection has them once they are {@linkplain #take taken}.
   */
  int grant(int wanted, int held) {
    int room = mostExtra() - extra;
    if (wanted <= room) {
      return wanted;
    }
    contended = true;
    return Math.max(0, Math.min(room, part(held) - held));
  }

  /** A connection that had {@code held} extra receives takes so many more. */
  void take(int count, int held) {
    if (held == 0 && count > 0) {
      sharers++;
    }
    extra += count;
  }

  /** A connection that had {@code held} extra receives gives so many back. */
  void giveBack(int count, int held) {
    if (held == count && count > 0) {
      sharers--;
    }
    extra -= count;
    if (extra <= mostExtra() / 2) {
      contended = false;
    }
  }

  /**
   * Returns whether a connection with {@code held} extra receives keeps others from having as many.
   */
  boolean hasMoreThanItsPart(int held) {
    return contended && held > part(held);
  }

  private int mostExtra() {
    return bound - bound / 2;
  }

  /** Returns an even part, where one more waits for a part. */
  private int part(int held) {
    return mostExtra() / (sharers + (held == 0 ? 1 : 0) + 1);
  }
}
