// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.packet;

import io.verbena.emulated.engine.PeerWindow;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * The windows of a port's peers, which limit the packets in flight. Their number is fixed, so that
 * memory does not grow with the number of peers; peers with the same hash share a window.
 */
final class PeerWindows {
  private static final int SLOTS = 4096;
  private static final long MIX = 0x9E3779B97F4A7C15L;
  private static final int SHIFT = Long.SIZE - 12;

  private final int most;
  private final @Nullable PeerWindow[] windows = new @Nullable PeerWindow[SLOTS];

  /** Creates windows of {@code most} packets to each peer. */
  PeerWindows(int most) {
    this.most = most;
  }

  PeerWindow to(Gid peer) {
    int slot = (int) (((peer.high() * MIX + peer.low()) * MIX) >>> SHIFT);
    PeerWindow window = windows[slot];
    if (window == null) {
      window = new PeerWindow(most);
      windows[slot] = window;
    }
    return window;
  }
}
