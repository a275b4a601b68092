// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.PacketOpcode;

/**
 * Tells the peer of a connection that its packets have met congestion (annex on RoCEv2, congestion
 * management): for packets that are marked, one notification in a while, so that it costs little
 * and the peer slows down step by step.
 */
final class CongestionNotifier {
  /** As rarely as the peer's {@link CongestionWindow} heeds them. */
  static final long INTERVAL_NANOS = 50_000;

  private final Link link;
  private final Timeline timeline;
  private boolean due;
  private boolean everSent;
  private long sent;

  CongestionNotifier(Link link, Timeline timeline) {
    this.link = link;
    this.timeline = timeline;
  }

  /** Forgets what is due. */
  void clear() {
    due = false;
  }

  /** A packet of the peer was marked on its way. */
  void marked() {
    due = true;
  }

  /** Sends a notification, if one is due; whether it did. */
  boolean step() {
    if (!due) {
      return false;
    }
    due = false;
    long now = timeline.now();
    if (everSent && now - sent < INTERVAL_NANOS) {
      return false;
    }
    everSent = true;
    sent = now;
    link.start(PacketOpcode.CONGESTION_NOTIFICATION, 0).backwardCongestion(true);
    link.send();
    return true;
  }
}
