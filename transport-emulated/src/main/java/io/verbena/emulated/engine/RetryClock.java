// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.RnrTimer;

/**
 * When to send again, and how often still (IBTA volume 1, retry and RNR retry counters). One alarm
 * serves both waits, since a requester that waits for a receiver waits for no answer.
 *
 * <pre>{@code
 *         packet sent                       RNR NAK
 * IDLE --------------> AWAITS_ANSWER ---------------------> AWAITS_RECEIVER
 *  ^                    |         |                                |
 *  +--------------------+         +--> timeout: send again         +--> alarm: send again
 *    all answered
 * }</pre>
 */
final class RetryClock {
  /** For ever, as an RNR retry count. */
  private static final int NO_LIMIT = 7;

  static final long UNIT_NANOS = 4096;

  /** Longer than a receiver that is busy takes to answer, on a machine that is not slow. */
  private static final long FIRST_PROBE_NANOS = 10_000_000;

  /** Longer than a receiver sleeps that has packets in its buffer, on a machine that is busy. */
  private static final long LATE_NANOS = 100_000_000;

  /** How long to wait until packets are taken that may be the answer. */
  private static final long BEHIND_NANOS = 1_000_000;

  /** How often, so that a port that is always busy has timeouts. */
  private static final int MOST_BEHIND = 100;

  /** So many times what an answer has taken lately is long. */
  private static final int LONG = 4;

  private enum Wait {
    IDLE,
    AWAITS_ANSWER,
    AWAITS_RECEIVER
  }

  private final Link link;
  private final Timeline timeline;
  private final Timeline.Alarm alarm;
  private Wait wait = Wait.IDLE;
  private boolean alarmSet;
  private long alarmAt;
  private long deadline;

  /** When to look for what may be lost, before the deadline. */
  private long probeAt;

  private long probeDelay = FIRST_PROBE_NANOS;

  /** Since when an answer is due. */
  private long since;

  /**
   * How long answers have taken lately; of one that was probed for nobody knows (Karn, RFC 6298).
   */
  private long answersTake;

  private boolean probed;
  private int behind;
  private int retriesLeft;
  private int rnrRetriesLeft;

  /** Whether a retry is under way that no answer has confirmed yet. */
  private boolean retrying;

  private boolean toProbe;

  RetryClock(Link link, Timeline timeline, Runnable expired) {
    this.link = link;
    this.timeline = timeline;
    alarm = timeline.alarm(expired);
  }

  /** Starts anew, as a connection does. */
  void reset() {
    stop();
    probed = false;
    answersTake = 0;
    probeDelay = FIRST_PROBE_NANOS;
    confirm();
  }

  /** Stops waiting. */
  void stop() {
    wait = Wait.IDLE;
    if (alarmSet) {
      alarmSet = false;
      alarm.cancel();
    }
  }

  /** The peer has made progress: all retries are to be had again. */
  void confirm() {
    retriesLeft = link.retryCount;
    rnrRetriesLeft = link.rnrRetry;
    retrying = false;
    if (probed) {
      probed = false;
    } else if (wait == Wait.AWAITS_ANSWER && link.options.flow().adaptive()) {
      answersTake = Math.max(timeline.now() - since, answersTake - answersTake / 8);
      probeDelay = Math.max(FIRST_PROBE_NANOS, LONG * answersTake);
    }
  }

  boolean isRetrying() {
    return retrying;
  }

  boolean awaitsReceiver() {
    return wait == Wait.AWAITS_RECEIVER;
  }

  /** A packet was sent: an answer is due, unless one is already. */
  void sent() {
    if (wait == Wait.IDLE) {
      restart();
    }
  }

  /** An answer came, and another is due. */
  void restart() {
    if (link.timeout == 0) {
      wait = Wait.IDLE;
      return;
    }
    wait = Wait.AWAITS_ANSWER;
    long now = timeline.now();
    since = now;
    behind = 0;
    deadline = now + (UNIT_NANOS << link.timeout);
    probeAt = link.options.flow().adaptive() ? Math.min(deadline, now + probeDelay) : deadline;
    arm();
  }

  /** Nothing more is due. The alarm may still go off, and finds nothing to do. */
  void answered() {
    wait = Wait.IDLE;
  }

  /** Takes one retry; false if none was left. */
  boolean retry() {
    if (retriesLeft == 0) {
      return false;
    }
    retriesLeft--;
    retrying = true;
    answered();
    return true;
  }

  /**
   * Takes one RNR retry and waits as the peer asked; false if none was left. The peer lives, so the
   * other retries are to be had again.
   */
  boolean awaitReceiver(int timerCode) {
    if (rnrRetriesLeft == 0) {
      return false;
    }
    if (rnrRetriesLeft != NO_LIMIT) {
      rnrRetriesLeft--;
    }
    retriesLeft = link.retryCount;
    wait = Wait.AWAITS_RECEIVER;
    deadline = timeline.now() + RnrTimer.nanos(timerCode);
    probeAt = deadline;
    arm();
    return true;
  }

  /**
   * What the alarm means.
   *
   * @return whether a deadline has passed; the wait is over then
   */
  boolean expired() {
    alarmSet = false;
    if (wait == Wait.IDLE) {
      return false;
    }
    long now = timeline.now();
    if (now - probeAt >= 0 && wait == Wait.AWAITS_ANSWER && waitsForPort()) {
      armAt(now + BEHIND_NANOS);
      return false;
    }
    if (now - deadline < 0) {
      if (now - probeAt >= 0) {
        probed = true;
        probeDelay *= 2;
        probeAt = Math.min(deadline, now + probeDelay);
        toProbe = true;
      }
      arm();
      return false;
    }
    return true;
  }

  /** The answer may have come already, among packets that the port has not been read of. */
  private boolean waitsForPort() {
    if (behind < MOST_BEHIND && link.isBehind()) {
      behind++;
      return true;
    }
    return false;
  }

  /** After {@link #expired}: whether it is time to look for what may be lost; asked once. */
  boolean isToProbe() {
    boolean probe = toProbe;
    toProbe = false;
    return probe;
  }

  /** Whether an answer has been due for very long. */
  boolean isLate() {
    return timeline.now() - since >= LATE_NANOS;
  }

  /** An alarm that is set goes off first and is then set again: most answers come in time. */
  private void arm() {
    if (alarmSet && alarmAt - probeAt <= 0) {
      return;
    }
    armAt(probeAt);
  }

  private void armAt(long moment) {
    alarmSet = true;
    alarmAt = moment;
    alarm.set(moment);
  }
}
