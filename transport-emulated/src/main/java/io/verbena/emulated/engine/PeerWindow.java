// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import org.jspecify.annotations.Nullable;

/**
 * Limits the packets of all queue pairs of a port in flight to one peer. That peer takes them with
 * one socket, whose buffer would overflow if each queue pair kept only to its own {@link
 * CongestionWindow}. Free room goes to the queue pair that comes first. When there is none, queue
 * pairs wait, and take turns in the order in which they came, of some packets each; of one packet
 * each while the peer may be gone. For the caller of the engines.
 */
public final class PeerWindow {
  /**
   * The most packets that a queue pair may send in its turn: a small part of the window, yet more
   * than one.
   */
  private static final int TURN = 16;

  private static final int TURNS = 4;

  private final int most;
  private final int longTurn;
  private int turn;

  /** The waiting queue pairs, linked in both directions. */
  private @Nullable WindowShare first;

  private @Nullable WindowShare last;

  /** Packets in flight, and those of turns that have begun. */
  private int taken;

  /** Creates a window of {@code most} packets. */
  public PeerWindow(int most) {
    this.most = most;
    longTurn = Math.max(1, Math.min(TURN, most / TURNS));
    turn = longTurn;
  }

  /** Returns whether {@code more} packets fit; then nobody waits. */
  boolean hasRoom(int more) {
    return taken + more <= most;
  }

  /** Notes whether the peer has answered, or has been silent for long. */
  void heard(boolean now) {
    turn = now ? longTurn : 1;
  }

  /** Queues a queue pair that found no room, for its turn. */
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

  /** Removes a queue pair, which waits no longer. */
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

  /**
   * Notes that queue pairs take {@code by} packets more, or less if negative; begins the turns that
   * fit.
   */
  void changed(int by) {
    taken += by;
    for (WindowShare next = first; next != null && taken < most; next = first) {
      taken += turn;
      forget(next);
      next.begin(turn);
    }
  }
}
