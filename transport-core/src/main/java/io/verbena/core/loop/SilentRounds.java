// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** Counts the rounds in which a peer has shown no sign of life. Only on the loop. */
public final class SilentRounds {
  /** Rounds without a completion after which the last one was at most one period ago. */
  private static final int MOST = KeepAliveMember.KEEP_ALIVE_ROUNDS - 1;

  private int seen;
  private int silent;

  /**
   * Counts a round; returns whether it is time to ask the peer.
   *
   * @param completed how many work requests have completed so far, modulo 2<sup>32</sup>
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
