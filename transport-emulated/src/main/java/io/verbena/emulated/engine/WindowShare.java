// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import org.jspecify.annotations.Nullable;

/**
 * What a queue pair has of a {@link PeerWindow}.
 *
 * <pre>
 *         no room: await             room: the engine runs again
 *  FREE ------------------> WAITS ------------------------------> TURN of some packets
 *   ^ takes what there is     |                                     |
 *   +--- queue pair stops ----+     <--- all sent, or no more ------+
 * </pre>
 */
final class WindowShare {
  /** Its neighbours among those that wait, which the window keeps. */
  @Nullable WindowShare before;

  @Nullable WindowShare after;

  private final Host host;
  private @Nullable PeerWindow window;
  private boolean waits;
  private boolean silent;

  /** Packets of the window: those out, and the rest of its turn. */
  private int taken;

  /** Packets that it may still send in its turn. */
  private int turn;

  WindowShare(Host host) {
    this.host = host;
  }

  /** From now on it is a share of this window, if any. */
  void of(@Nullable PeerWindow shared) {
    if (shared != window) {
      int before = taken - turn;
      clear();
      window = shared;
      out(before);
    }
  }

  /** It has nothing out and wants nothing. */
  void clear() {
    PeerWindow shared = window;
    if (waits && shared != null) {
      waits = false;
      shared.forget(this);
    }
    silent = false;
    turn = 0;
    out(0);
  }

  /**
   * Whether another packet may be sent now, besides so many that are out; if not, the engine runs
   * again when it may.
   */
  boolean take(int out) {
    PeerWindow shared = window;
    if (shared == null || turn > 0) {
      return true;
    }
    if (silent) {
      return out == 0;
    }
    if (!waits) {
      if (shared.hasRoom(1)) {
        return true;
      }
      waits = true;
      shared.await(this);
    }
    return false;
  }

  /** Whether it may be the last packet for now that is sent next. */
  boolean endsTurn() {
    PeerWindow shared = window;
    return shared != null && (turn > 0 ? turn == 1 : !shared.hasRoom(2));
  }

  void begin(int packets) {
    waits = false;
    turn = packets;
    taken += packets;
    host.ready();
  }

  /** So many packets were sent. */
  void sent(int packets) {
    if (silent) {
      return;
    }
    int ofTurn = Math.min(turn, packets);
    turn -= ofTurn;
    change(packets - ofTurn);
  }

  /** There is no more to send: what is left of the turn is for others. */
  void rest() {
    int left = turn;
    turn = 0;
    change(-left);
  }

  /** So many packets are out that may be in the peer's buffer. */
  void out(int packets) {
    change(packets + turn - taken);
  }

  /**
   * Nothing is heard of the peer for so long that what is out is in no buffer any more. Until an
   * answer comes, one packet at a time asks for it, and needs no room.
   */
  void silent() {
    PeerWindow shared = window;
    if (shared != null) {
      silent = true;
      shared.heard(false);
      out(0);
    }
  }

  /** The peer has answered. */
  void heard() {
    PeerWindow shared = window;
    if (shared != null) {
      silent = false;
      shared.heard(true);
    }
  }

  private void change(int by) {
    PeerWindow shared = window;
    if (shared != null && by != 0) {
      taken += by;
      shared.changed(by);
    }
  }
}
