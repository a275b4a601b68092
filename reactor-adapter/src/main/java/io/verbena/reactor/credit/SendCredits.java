// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

import io.verbena.reactor.wire.ProtocolException;

/**
 * Credits from the peer: how many frames, messages or immediates this end may send. Counters are
 * totals modulo 2<sup>32</sup>, as on the wire.
 */
public class SendCredits {
  private final String of;
  private final int most;
  private int limit;
  private int used;

  /**
   * @param of the name of what is counted, for errors
   * @param first the first grant
   * @param most how many may ever be free at once
   */
  public SendCredits(String of, int first, int most) {
    this.of = of;
    this.most = most;
    limit = first;
  }

  /** Returns the number of free credits. */
  public int left() {
    return limit - used;
  }

  /** Uses one. */
  public void use() {
    used++;
  }

  /** Undoes the use of one, of which nothing reached the peer. */
  public void takeBack() {
    used--;
  }

  /** Gives {@code count} back to the peer; they count as used. */
  public void giveBack(int count) {
    used += count;
  }

  /** Returns how many were used in all, modulo 2<sup>32</sup>. */
  public int used() {
    return used;
  }

  /**
   * Takes the peer's newest grant.
   *
   * @param newLimit the total that this end may have sent
   * @throws ProtocolException if it takes credits back, or frees more than {@code most}
   */
  public void raise(int newLimit) {
    if (newLimit == limit) {
      return;
    }
    if (newLimit - limit < 0 || newLimit - used > most) {
      throw ProtocolException.malformed(
          "grant of " + of, newLimit - limit, "0.." + (most - left()) + " more than before");
    }
    limit = newLimit;
  }
}
