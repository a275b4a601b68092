// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/**
 * Credits of the peer's receives. An end that has sent nothing for a while gives back what it was
 * granted beyond the first grant, for other connections of the peer.
 */
public final class SendFrameCredits extends SendCredits {
  /** So many ticks without a frame make an end give credits back. */
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

  /** The coarse clock went on. */
  public void tick() {
    int used = used();
    idleTicks = used == usedAtTick ? idleTicks + 1 : 0;
    usedAtTick = used;
  }

  /** Returns whether there are credits that are given back when they are not used. */
  public boolean hasMoreThanFirst() {
    return left() > first + 1;
  }

  /** Returns whether a frame should give them back by now. */
  public boolean isReturnDue() {
    return idleTicks >= IDLE_TICKS && hasMoreThanFirst();
  }

  /** Gives them back but for the one that the frame takes; returns how many the frame announces. */
  public int giveBackIdle() {
    int count = left() - first - 1;
    giveBack(count);
    idleTicks = 0;
    return count;
  }
}
