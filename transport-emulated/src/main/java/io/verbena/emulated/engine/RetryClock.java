// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.RnrTimer;

/**
 * Decides when to send again, and counts the retries (IBTA volume 1, retry and RNR retry counters).
 * One alarm serves both waits, since a requester that waits for a receiver waits for no answer.
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
  /** The RNR retry count that means no limit. */
  private static final int NO_LIMIT = 7;

  static final long UNIT_NANOS = 4096;

  /** Longer than a busy receiver takes to answer, on a machine that is not slow. */
  private static final long FIRST_PROBE_NANOS = 10_000_000;

  /** Longer than a receiver sleeps with packets in its buffer, on a busy machine. */
  private static final long LATE_NANOS = 100_000_000;

  /** Probes come at least as often. */
  private static final long MOST_PROBE_NANOS = 1_000_000_000;

  /** A timeout that nobody lives to see. */
  private static final long NEVER_NANOS = Long.MAX_VALUE / 2;

  /** The time to wait for packets to be taken that may be the answer. */
  private static final long BEHIND_NANOS = 1_000_000;

  /** The most such waits, so that a port that is always busy has timeouts. */
  private static final int MOST_BEHIND = 100;

  /** This many times the recent answer time counts as long. */
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

  /** The time of the next probe for lost packets, before the deadline. */
  private long probeAt;

  private long probeDelay = FIRST_PROBE_NANOS;

  /** The time since which an answer is due. */
  private long since;

  /** The recent answer time; answers to probed packets are not measured (Karn, RFC 6298). */
  private long answersTake;

  private boolean probed;
  private int behind;
  private int retriesLeft;
  private int rnrRetriesLeft;

  /** True while no answer has confirmed a retry. */
  private boolean retrying;

  private boolean toProbe;

  RetryClock(Link link, Timeline timeline, Runnable expired) {
    this.link = link;
    this.timeline = timeline;
    alarm = timeline.alarm(expired);
  }

  /** Starts anew, for a new connection. */
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

  /** Notes that the peer has made progress, which restores all retries. */
  void confirm() {
    reload();
    retrying = false;
    if (probed) {
      probed = false;
    } else if (wait == Wait.AWAITS_ANSWER && link.options.flow().adaptive()) {
      answersTake = Math.max(timeline.now() - since, answersTake - answersTake / 8);
      probeDelay = Math.max(FIRST_PROBE_NANOS, LONG * answersTake);
    }
  }

  /** Gives all retries, of which there may be another number now; no answer is due. */
  void reload() {
    retriesLeft = link.retryCount;
    rnrRetriesLeft = link.rnrRetry;
  }

  boolean isRetrying() {
    return retrying;
  }

  boolean awaitsReceiver() {
    return wait == Wait.AWAITS_RECEIVER;
  }

  /** Notes that a packet was sent: an answer is due, unless one is already. */
  void sent() {
    if (wait == Wait.IDLE) {
      restart();
    }
  }

  /**
   * Notes that an answer came, and another is due. Without a timeout, probes find out that the peer
   * is silent: others wait for the room in its window.
   */
  void restart() {
    boolean adaptive = link.options.flow().adaptive();
    if (link.timeout == 0 && !adaptive) {
      wait = Wait.IDLE;
      return;
    }
    wait = Wait.AWAITS_ANSWER;
    long now = timeline.now();
    since = now;
    behind = 0;
    deadline = now + (link.timeout == 0 ? NEVER_NANOS : UNIT_NANOS << link.timeout);
    probeAt = adaptive ? Math.min(deadline, now + probeDelay) : deadline;
    arm();
  }

  /** Notes that no answer is due. The alarm may still go off, and finds nothing to do. */
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
   * Takes one RNR retry and waits as the peer asked; false if none was left. The peer is alive, so
   * this restores the other retries.
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
   * Handles the alarm.
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
        if (probeDelay < MOST_PROBE_NANOS) {
          probeDelay *= 2;
        }
        probeAt = Math.min(deadline, now + probeDelay);
        toProbe = true;
      }
      arm();
      return false;
    }
    return true;
  }

  /**
   * Returns whether to wait for the port, since the answer may be among packets that it has not
   * taken yet.
   */
  private boolean waitsForPort() {
    if (behind < MOST_BEHIND && link.isBehind()) {
      behind++;
      return true;
    }
    return false;
  }

  /**
   * Returns whether it is time to probe for lost packets, and forgets it; to be called after {@link
   * #expired}.
   */
  boolean isToProbe() {
    boolean probe = toProbe;
    toProbe = false;
    return probe;
  }

  /** Returns whether an answer has been due for very long. */
  boolean isLate() {
    return timeline.now() - since >= LATE_NANOS;
  }

  /**
   * Arms the alarm, unless it goes off before and is then armed again: most answers come in time.
   */
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
