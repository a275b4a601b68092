// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

import io.verbena.reactor.wire.ProtocolException;

/**
 * Frame credits for the peer. Their number changes with the traffic, between the first grant and
 * the most that the handshake has announced:
 *
 * <pre>
 *  grows    doubles when so many were used since the last announcement that new ones are due; a
 *           peer that gets an answer to each frame never uses so many
 *  shrinks  by the credits that an idle peer gives back, and by each frame that arrives while other
 *           connections wait for receives
 * </pre>
 */
public final class ReceiveFrameCredits extends ReceiveCredits {
  private final int first;
  private final int most;
  private int share;
  private boolean grown;

  /**
   * @param first the first grant, and the least that the peer has
   * @param most the most that the peer may have
   */
  public ReceiveFrameCredits(int first, int most) {
    super(first, threshold(first));
    this.first = first;
    this.most = most;
    share = first;
  }

  private static int threshold(int share) {
    return Math.max(2, share / 4);
  }

  /** Returns the number of credits, used or not. */
  public int share() {
    return share;
  }

  /** Returns how many more are worthwhile now; 0 until the last ones granted were announced. */
  public int wanted() {
    return grown || !reached() ? 0 : Math.min(share, most - share);
  }

  /** Grants {@code count} more; 0 if there were no more receives. */
  public void grow(int count) {
    grown = true;
    if (count > 0) {
      add(count);
      share(share + count);
    }
  }

  /** Returns whether there are more than the peer must have. */
  public boolean mayShrink() {
    return share > first;
  }

  /** Takes one credit back for good: a receive that was used and is not granted anew. */
  public void withhold() {
    share(share - 1);
  }

  /**
   * Takes credits that the peer gives back.
   *
   * @throws ProtocolException if it has fewer, or must keep them
   */
  public void giveBack(int count) {
    int returnable = Math.min(share - first, onTheirWay());
    if (count < 1 || count > returnable) {
      throw ProtocolException.malformed("credits given back", count, "1.." + returnable);
    }
    arrive(count);
    share(share - count);
  }

  private void share(int count) {
    share = count;
    threshold = threshold(count);
  }

  @Override
  public int announce() {
    grown = false;
    return super.announce();
  }
}
