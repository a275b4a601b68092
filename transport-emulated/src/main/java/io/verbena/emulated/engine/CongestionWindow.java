// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Psn;

/**
 * How many packets may be out without an answer. Adaptive, it opens by the acknowledged packets
 * until the first loss, then by one packet for each window; closes to half on a loss, once for all
 * that was out then; to one packet when nothing is heard any more; and by an eighth on a congestion
 * notification, at most once in a while (additive increase, multiplicative decrease; RFC 5681).
 */
final class CongestionWindow {
  /** Windows are counted in parts of a packet. */
  private static final int UNIT = 256;

  /** Acknowledgements for a whole window: one to send on by, one on its way, and one late. */
  private static final int ACKS = 3;

  private static final int FIRST = 16;

  private final FlowControl control;
  private final Timeline timeline;
  private int allowed;
  private int threshold;

  /** Until this PSN is acknowledged a further loss is of the same trouble. */
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

  /** Packets that may be out. */
  int packets() {
    return allowed / UNIT;
  }

  /** Packets after which an acknowledgement is asked for, so that they come all the time. */
  int ackInterval() {
    return control.adaptive()
        ? Math.max(1, Math.min(Requester.ACK_INTERVAL, packets() / ACKS))
        : Requester.ACK_INTERVAL;
  }

  /** So many packets were answered, up to a PSN. */
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

  /** A packet was lost, when all before {@code sentEnd} was out. */
  void lost(int sentEnd) {
    if (control.adaptive() && !recovering) {
      recovering = true;
      recoverUntil = sentEnd;
      threshold = Math.max(2 * UNIT, allowed / 2);
      allowed = threshold;
    }
  }

  /** Nothing was heard for a while. */
  void silent(int sentEnd) {
    if (control.adaptive()) {
      lost(sentEnd);
      allowed = UNIT;
    }
  }

  /** The network says that it is congested. */
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
