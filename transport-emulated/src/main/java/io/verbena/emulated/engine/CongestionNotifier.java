// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.PacketOpcode;

/**
 * Notifies the peer of a connection that its packets have met congestion (annex on RoCEv2,
 * congestion management). Sends one notification per interval for all marked packets, so that
 * notifications cost little and the peer slows down step by step.
 */
final class CongestionNotifier {
  /**
   * The shortest time between two notifications, and between two reactions of the peer's {@link
   * CongestionWindow}.
   */
  static final long INTERVAL_NANOS = 50_000;

  private final EngineContext context;
  private final Timeline timeline;
  private boolean due;
  private boolean everSent;
  private long sent;

  CongestionNotifier(EngineContext context, Timeline timeline) {
    this.context = context;
    this.timeline = timeline;
  }

  /** Drops the pending notification. */
  void clear() {
    due = false;
  }

  /** Notes that a switch has marked a packet of the peer. */
  void marked() {
    due = true;
  }

  /** Returns whether a notification is pending. */
  boolean isDue() {
    return due;
  }

  /** Sends a notification if one is due; returns whether one was sent. */
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
    context.start(PacketOpcode.CONGESTION_NOTIFICATION, 0).backwardCongestion(true);
    context.send();
    return true;
  }
}
