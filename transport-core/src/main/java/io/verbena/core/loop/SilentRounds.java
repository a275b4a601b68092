// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/**
 * Counts the {@linkplain KeepAliveRounds rounds} without a completion from a peer. Only on the
 * loop.
 */
public final class SilentRounds {
  /**
   * The rounds without a completion after which the peer is probed: one fewer than in a keep-alive
   * period.
   */
  private static final int MOST = KeepAliveMember.KEEP_ALIVE_ROUNDS - 1;

  private int seen;
  private int silent;

  /**
   * Counts a round; returns whether the peer is to be probed.
   *
   * @param completed the number of work requests completed so far, modulo 2<sup>32</sup>
   */
  public boolean end(int completed) {
    if (completed != seen) {
      seen = completed;
      silent = 0;
      return false;
    }
    return ++silent >= MOST;
  }
}
