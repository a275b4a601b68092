// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

import io.verbena.reactor.wire.ProtocolException;

/**
 * Credits from the peer: how many frames, messages or immediates this end may send. Counters are
 * totals modulo 2<sup>32</sup>, as they are on the wire.
 */
public final class SendCredits {
  private final String of;
  private final int most;
  private int limit;
  private int used;

  /**
   * @param of what it counts, for error messages
   * @param most how many may ever be free at once: the first grant
   */
  public SendCredits(String of, int most) {
    this.of = of;
    this.most = most;
    limit = most;
  }

  /** Credits that are free. */
  public int left() {
    return limit - used;
  }

  /** Uses one. */
  public void use() {
    used++;
  }

  /**
   * Takes the peer's newest grant.
   *
   * @throws ProtocolException if it takes credits back or frees more than the first grant
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
