// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

/**
 * Computes how many receives a pool keeps posted, and how many its connections may promise to their
 * peers. Posts nothing itself.
 *
 * <p>Each connection may promise its peer {@code first} receives at all times, and the {@code
 * extra} receives that it was granted here. The pool keeps
 *
 * <pre>{@code
 * target = (sum of all extra) + reserve
 * reserve = min(connections * first, max(256 + connections / 4, busy * first), bound / 2)
 * sum of all extra <= bound - bound / 2
 * }</pre>
 *
 * receives posted. {@code busy} is the number of connections that take several receives within one
 * short period: the peer of each may use all its promises at once. When that number falls, the old
 * one is halved from period to period.
 *
 * <p><b>Why promises exceed posted receives only where RNR covers the difference.</b> A promise
 * ends when a frame takes a receive, and is renewed only after that receive, or another one, is
 * posted again. So promised and posted receives fall and rise together, and {@code promised <=
 * posted + (connections * first - reserve)} always holds if it holds whenever a count here changes.
 * It does: an extra receive is promised after it is posted, and given up before the target falls.
 * The argument does not need the receives that are posted for busy connections. Up to {@code 256 /
 * first} connections have a receive for each promise. With more connections, at most {@code first}
 * promises of each lack a receive, whatever the connection does. If all use them at once, the HCA
 * of a sender waits (RNR) until the loop has read a frame of another connection, for which the loop
 * waits for no other thread or peer.
 *
 * <p><b>Why no connection starves.</b> A connection never loses its {@code first} receives, and the
 * sum of the extra ones is bounded. When a connection finds no extra receives left, connections
 * with more than an even part give up each receive that is used, until the parts are even. A peer
 * that uses none keeps its promised receives, and gets no more.
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
   * @param bound the most receives to keep posted
   * @param first the receives that each connection may promise at all times
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

  /** Returns the number of receives that each connection may promise at all times. */
  int first() {
    return first;
  }

  /** Counts a new connection. */
  void join() {
    connections++;
  }

  /** Counts a connection less, which has no extra receives. */
  void leave() {
    connections--;
  }

  /** Counts one more connection that takes several receives in this period. */
  void becameBusy() {
    busy++;
  }

  /** Begins another period, in which no connection is busy yet. */
  void beginPeriod() {
    busyBefore = Math.max(busy, busyBefore / 2);
    busy = 0;
  }

  /** Returns the number of receives to keep posted. */
  int target() {
    long forBusy = (long) Math.max(busy, busyBefore) * first;
    long most = Math.min(Math.max(RESERVE + connections / RESERVE_SHARE, forBusy), bound / 2);
    return extra + (int) Math.min((long) connections * first, most);
  }

  /** Returns the most receives that connections may promise. */
  long promised() {
    return (long) connections * first + extra;
  }

  /**
   * Returns how many of the {@code wanted} receives a connection with {@code held} extra ones may
   * get, 0 or more. The connection gets them by {@link #take}.
   */
  int grant(int wanted, int held) {
    int room = mostExtra() - extra;
    if (wanted <= room) {
      return wanted;
    }
    contended = true;
    return Math.max(0, Math.min(room, part(held) - held));
  }

  /** Gives {@code count} more receives to a connection that had {@code held} extra ones. */
  void take(int count, int held) {
    if (held == 0 && count > 0) {
      sharers++;
    }
    extra += count;
  }

  /** Takes {@code count} receives back from a connection that had {@code held} extra ones. */
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

  /** Returns an even part of the extra receives, if one more connection is to have a part. */
  private int part(int held) {
    return mostExtra() / (sharers + (held == 0 ? 1 : 0) + 1);
  }
}
