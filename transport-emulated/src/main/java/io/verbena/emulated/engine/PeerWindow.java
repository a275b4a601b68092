// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import org.jspecify.annotations.Nullable;

/**
 * How many packets all queue pairs of a port may have out to one peer, which takes them with one
 * socket, whose buffer overflows where each queue pair keeps to its own {@link CongestionWindow}
 * only. Whoever comes first takes what there is. When all is taken, queue pairs wait, and have
 * their turns in the order in which they came, of some packets each; of one packet each while the
 * peer may be gone. For the caller of the engines.
 */
public final class PeerWindow {
  /** Packets that a queue pair may send in its turn: a small part, yet more than a packet. */
  private static final int TURN = 16;

  private static final int TURNS = 4;

  private final int most;
  private final int longTurn;
  private int turn;

  /** Those that wait, linked in both directions. */
  private @Nullable WindowShare first;

  private @Nullable WindowShare last;

  /** Packets that are out, and those of turns that have begun. */
  private int taken;

  /** A window for some packets. */
  public PeerWindow(int most) {
    this.most = most;
    longTurn = Math.max(1, Math.min(TURN, most / TURNS));
    turn = longTurn;
  }

  /** Whether so many more may be out; nobody waits then. */
  boolean hasRoom(int more) {
    return taken + more <= most;
  }

  /** Whether the peer has answered one of them, or not for long. */
  void heard(boolean now) {
    turn = now ? longTurn : 1;
  }

  /** There is no room for a queue pair: it is to have its turn. */
  void await(WindowShare share) {
    WindowShare before = last;
    share.before = before;
    last = share;
    if (before == null) {
      first = share;
    } else {
      before.after = share;
    }
  }

  /** A queue pair waits no longer. */
  void forget(WindowShare share) {
    WindowShare before = share.before;
    WindowShare after = share.after;
    share.before = null;
    share.after = null;
    if (before == null) {
      first = after;
    } else {
      before.after = after;
    }
    if (after == null) {
      last = before;
    } else {
      after.before = before;
    }
  }

  /** Queue pairs have taken so many packets more, or less, of it. */
  void changed(int by) {
    taken += by;
    for (WindowShare next = first; next != null && taken < most; next = first) {
      taken += turn;
      forget(next);
      next.begin(turn);
    }
  }
}
