// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.PacketOpcode;

/**
 * Tells the peer of a connection that its packets have met congestion (annex on RoCEv2, congestion
 * management): one notification per interval for packets that are marked, so that it costs little
 * and the peer slows down step by step.
 */
final class CongestionNotifier {
  /** The interval at which the peer's {@link CongestionWindow} heeds notifications. */
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

  /** Drops a notification that is due. */
  void clear() {
    due = false;
  }

  /** Notes that a packet of the peer was marked on its way. */
  void marked() {
    due = true;
  }

  /** Sends a notification if one is due; returns whether it did. */
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
