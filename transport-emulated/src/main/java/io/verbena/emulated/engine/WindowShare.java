// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import org.jspecify.annotations.Nullable;

/**
 * A queue pair's share of a {@link PeerWindow}.
 *
 * <pre>
 *         no room: await             room: the engine runs again
 *  FREE ------------------> WAITS ------------------------------> TURN of some packets
 *   ^ takes free room         |                                     |
 *   +--- queue pair stops ----+     <--- all sent, or no more ------+
 * </pre>
 */
final class WindowShare {
  /** The neighbors in the window's list of waiting queue pairs. */
  @Nullable WindowShare before;

  @Nullable WindowShare after;

  private final EngineHost host;
  private @Nullable PeerWindow window;
  private boolean waits;
  private boolean silent;

  /** Packets taken from the window: those in flight, and the rest of the turn. */
  private int taken;

  /** Packets that may still be sent in the current turn. */
  private int turn;

  WindowShare(EngineHost host) {
    this.host = host;
  }

  /** Moves this share to another window, or to none. */
  void of(@Nullable PeerWindow shared) {
    if (shared != window) {
      int before = taken - turn;
      clear();
      window = shared;
      out(before);
    }
  }

  /** Returns all packets to the window, since nothing is in flight or to be sent. */
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
   * Returns whether another packet may be sent now, besides the {@code out} packets in flight. If
   * not, the engine runs again once a packet may be sent.
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

  /** Returns whether the next packet is the last one of the turn, or fills the window. */
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

  /** Notes that packets were sent. */
  void sent(int packets) {
    if (silent) {
      return;
    }
    int ofTurn = Math.min(turn, packets);
    turn -= ofTurn;
    change(packets - ofTurn);
  }

  /** Returns the rest of the turn to the window, since there is no more to send. */
  void rest() {
    int left = turn;
    turn = 0;
    change(-left);
  }

  /** Sets the number of packets in flight that may be in the peer's buffer. */
  void out(int packets) {
    change(packets + turn - taken);
  }

  /**
   * Notes that the peer has been silent for so long that no packet in flight is still in a buffer.
   * Until an answer comes, one packet at a time is sent as a probe, which takes no room.
   */
  void silent() {
    PeerWindow shared = window;
    if (shared != null) {
      silent = true;
      shared.heard(false);
      out(0);
    }
  }

  /** Notes that the peer has answered. */
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
