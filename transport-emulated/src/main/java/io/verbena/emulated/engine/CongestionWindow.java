// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Psn;

/**
 * The number of packets that may be in flight without an answer. With adaptive flow control, the
 * window grows by the acknowledged packets until the first loss, then by one packet for each
 * window. It shrinks to half on a loss, once for all packets in flight at that time; to one packet
 * after silence; and by an eighth on a congestion notification, at most once per interval (additive
 * increase, multiplicative decrease; RFC 5681).
 */
final class CongestionWindow {
  /** The window is counted in fractions of a packet: this many are one packet. */
  private static final int UNIT = 256;

  /** Acknowledgements per window: one that has arrived, one on its way, and one that is late. */
  private static final int ACKS = 3;

  private static final int FIRST = 16;

  private final FlowControl control;
  private final Timeline timeline;
  private int allowed;
  private int threshold;

  /** Until this PSN is acknowledged, further losses count as the same congestion. */
  private int recoverUntil;

  private boolean recovering;
  private boolean everNotified;
  private long notified;

  CongestionWindow(FlowControl control, Timeline timeline) {
    this.control = control;
    this.timeline = timeline;
    reset();
  }

  void reset() {
    allowed = control.adaptive() ? Math.min(control.most(), FIRST) * UNIT : control.most() * UNIT;
    threshold = control.most() * UNIT;
    recovering = false;
  }

  /** Returns the number of packets that may be in flight. */
  int packets() {
    return allowed / UNIT;
  }

  /**
   * Returns the number of packets after which an acknowledgement is requested, so that
   * acknowledgements arrive steadily.
   */
  int ackInterval() {
    return control.adaptive()
        ? Math.max(1, Math.min(Requester.ACK_INTERVAL, packets() / ACKS))
        : Requester.ACK_INTERVAL;
  }

  /**
   * Opens the window for {@code packets} packets that were answered; {@code end} is one past the
   * last of them.
   */
  void answered(int packets, int end) {
    if (!control.adaptive()) {
      return;
    }
    if (recovering && Psn.difference(end, recoverUntil) >= 0) {
      recovering = false;
    }
    int more = allowed < threshold ? packets * UNIT : packets * UNIT * UNIT / allowed;
    allowed = Math.min(control.most() * UNIT, allowed + more);
  }

  /** Closes the window for a lost packet; {@code sentEnd} is the end of the packets in flight. */
  void lost(int sentEnd) {
    if (control.adaptive() && !recovering) {
      recovering = true;
      recoverUntil = sentEnd;
      threshold = Math.max(2 * UNIT, allowed / 2);
      allowed = threshold;
    }
  }

  /** Closes the window to one packet, since no answer came for a while. */
  void silent(int sentEnd) {
    if (control.adaptive()) {
      lost(sentEnd);
      allowed = UNIT;
    }
  }

  /** Closes the window by an eighth, since the network reports congestion. */
  void notified() {
    long now = timeline.now();
    if (control.adaptive()
        && (!everNotified || now - notified >= CongestionNotifier.INTERVAL_NANOS)) {
      everNotified = true;
      notified = now;
      allowed = Math.max(UNIT, allowed - allowed / 8);
      threshold = allowed;
    }
  }
}
