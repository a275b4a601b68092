// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import java.util.ArrayDeque;

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
  private final ArrayDeque<WindowShare> waiting = new ArrayDeque<>();

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
    waiting.add(share);
  }

  /** A queue pair waits no longer. */
  void forget(WindowShare share) {
    waiting.remove(share);
  }

  /** Queue pairs have taken so many packets more, or less, of it. */
  void changed(int by) {
    taken += by;
    while (taken < most && !waiting.isEmpty()) {
      taken += turn;
      waiting.remove().begin(turn);
    }
  }
}
