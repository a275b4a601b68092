// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/**
 * How many packets all queue pairs of a port may have out to one peer, which takes them with one
 * socket, whose buffer overflows where each queue pair keeps to its own {@link CongestionWindow}
 * only. Up to half of it, or less where there are many, is for whoever comes first; the rest is for
 * those who have less than their share, so that none is kept out by others.
 *
 * <p>A queue pair without a packet out that will be answered may always send: it asks for room when
 * its own answers come, and nobody has to be woken. So where there are more queue pairs than
 * packets in the window, each has one out. For the caller of the engines.
 */
public final class PeerWindow {
  private final int most;
  private int out;
  private int active;

  /** A window for some packets. */
  public PeerWindow(int most) {
    this.most = most;
  }

  /** Whether a queue pair that has so many packets out may send another one. */
  boolean hasRoom(int own) {
    return !isBusy() || (out < most && own < share());
  }

  /** A queue pair has another number of packets out. */
  void changed(int before, int now) {
    out += now - before;
    active += Integer.signum(now) - Integer.signum(before);
  }

  /** Packets that are out. */
  int out() {
    return out;
  }

  private boolean isBusy() {
    return out >= Math.max(0, most - active) / 2;
  }

  private int share() {
    return most / Math.max(1, active);
  }
}
