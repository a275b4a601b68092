// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/**
 * Frame credits from the peer. An end that has sent nothing for a while gives back the credits
 * beyond the first grant, for other connections of the peer.
 */
public final class SendFrameCredits extends SendCredits {
  /** The number of ticks without a frame after which an end gives credits back. */
  private static final int IDLE_TICKS = 3;

  /** Credits that are not given back. */
  private final int first;

  private int usedAtTick;
  private int idleTicks;

  /**
   * @param first the first grant
   * @param most how many may ever be free at once
   */
  public SendFrameCredits(int first, int most) {
    super("frames", first, most);
    this.first = first;
  }

  /** Counts a tick of the coarse clock. */
  public void tick() {
    int used = used();
    idleTicks = used == usedAtTick ? idleTicks + 1 : 0;
    usedAtTick = used;
  }

  /** Returns whether it has credits that are given back when they are not used. */
  public boolean hasMoreThanFirst() {
    return left() > first + 1;
  }

  /** Returns whether a frame should give unused credits back by now. */
  public boolean isReturnDue() {
    return idleTicks >= IDLE_TICKS && hasMoreThanFirst();
  }

  /**
   * Gives back the unused credits, except for the one that the frame takes; returns how many the
   * frame announces.
   */
  public int giveBackIdle() {
    int count = left() - first - 1;
    giveBack(count);
    idleTicks = 0;
    return count;
  }
}
