// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Psn;

/**
 * The number of packets that may be in flight without an answer. Adaptive, it opens by the
 * acknowledged packets until the first loss, then by one packet for each window; closes to half on
 * a loss, once for all packets in flight then; to one packet after silence; and by an eighth on a
 * congestion notification, at most once per interval (additive increase, multiplicative decrease;
 * RFC 5681).
 */
final class CongestionWindow {
  /** Windows are counted in fractions of a packet. */
  private static final int UNIT = 256;

  /** Acknowledgements per window: one that lets the sender go on, one on its way, and one late. */
  private static final int ACKS = 3;

  private static final int FIRST = 16;

  private final FlowControl control;
  private final Timeline timeline;
  private int allowed;
  private int threshold;

  /** Until this PSN is acknowledged, a further loss belongs to the same congestion. */
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
   * Returns the number of packets after which an acknowledgement is requested, so that they come
   * steadily.
   */
  int ackInterval() {
    return control.adaptive()
        ? Math.max(1, Math.min(Requester.ACK_INTERVAL, packets() / ACKS))
        : Requester.ACK_INTERVAL;
  }

  /** Opens the window for packets that were answered, up to a PSN. */
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

  /** Closes the window to one packet: nothing came for a while. */
  void silent(int sentEnd) {
    if (control.adaptive()) {
      lost(sentEnd);
      allowed = UNIT;
    }
  }

  /** Closes the window by an eighth: the network reports congestion. */
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
