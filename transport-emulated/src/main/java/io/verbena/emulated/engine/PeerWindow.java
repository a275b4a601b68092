// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import org.jspecify.annotations.Nullable;

/**
 * Limits the packets in flight from all queue pairs of a port to one peer. The peer receives them
 * through one socket, whose buffer would overflow if each queue pair obeyed only its own {@link
 * CongestionWindow}. Free room goes to the first queue pair that asks for it. Without free room,
 * queue pairs wait and take turns in the order of their requests. A turn is several packets, or one
 * packet while the peer may be gone. Used only by the caller of the engines.
 */
public final class PeerWindow {
  /** The most packets of a turn: a small part of the window. */
  private static final int TURN = 16;

  private static final int TURNS = 4;

  private final int most;
  private final int longTurn;
  private int turn;

  /** The waiting queue pairs, linked in both directions. */
  private @Nullable WindowShare first;

  private @Nullable WindowShare last;

  /** Packets in flight, and the packets of begun turns. */
  private int taken;

  /** Creates a window of {@code most} packets. */
  public PeerWindow(int most) {
    this.most = most;
    longTurn = Math.max(1, Math.min(TURN, most / TURNS));
    turn = longTurn;
  }

  /** Returns whether {@code more} packets fit; if so, no queue pair waits. */
  boolean hasRoom(int more) {
    return taken + more <= most;
  }

  /** Sets whether the peer answers: true after an answer, false after a long silence. */
  void heard(boolean now) {
    turn = now ? longTurn : 1;
  }

  /** Queues a queue pair that found no room. */
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

  /** Removes a queue pair from the waiting ones. */
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

  /** Adds {@code by} to the packets in flight, and begins the turns that fit. */
  void changed(int by) {
    taken += by;
    for (WindowShare next = first; next != null && taken < most; next = first) {
      taken += turn;
      forget(next);
      next.begin(turn);
    }
  }
}
