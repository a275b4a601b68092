// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.RnrTimer;

/**
 * Decides when to send again, and counts the retries (IBTA volume 1, retry and RNR retry counters).
 * One alarm serves both waits, since a requester that waits for a receiver does not wait for an
 * answer.
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

  /**
   * The first delay of a probe: longer than a busy receiver takes to answer on a machine that is
   * not slow.
   */
  private static final long FIRST_PROBE_NANOS = 10_000_000;

  /**
   * An answer is very late after this time: longer than a receiver on a busy machine sleeps with
   * packets in its buffer.
   */
  private static final long LATE_NANOS = 100_000_000;

  /** The delay of a probe is doubled only below this time. */
  private static final long MOST_PROBE_NANOS = 1_000_000_000;

  /** The deadline of a wait without a timeout: 146 years. */
  private static final long NEVER_NANOS = Long.MAX_VALUE / 2;

  /**
   * The time to wait while the port has packets that were not received yet and may be the answer.
   */
  private static final long BEHIND_NANOS = 1_000_000;

  /** The most such waits, so that timeouts occur also on a port that is always busy. */
  private static final int MOST_BEHIND = 100;

  /** A probe is sent after this many times the recent answer time. */
  private static final int LONG = 4;

  private enum Wait {
    IDLE,
    AWAITS_ANSWER,
    AWAITS_RECEIVER
  }

  private final EngineContext context;
  private final Timeline timeline;
  private final Timeline.Alarm alarm;
  private Wait wait = Wait.IDLE;
  private boolean alarmSet;
  private long alarmAt;
  private long deadline;

  /** The time of the next probe for lost packets, before the deadline. */
  private long probeAt;

  private long probeDelay = FIRST_PROBE_NANOS;

  /** The time when the wait for an answer began, unless it is {@link #untimed}. */
  private long since;

  /**
   * True if the wait began at an unknown time after the alarm was set. It is timed when the alarm
   * goes off: so it ends late, by the delay of a probe at most.
   */
  private boolean untimed;

  /** The recent answer time; answers to probed packets are not measured (Karn, RFC 6298). */
  private long answerTime;

  private boolean probed;
  private int behind;
  private int retriesLeft;
  private int rnrRetriesLeft;

  /** True after a retry until an answer confirms it. */
  private boolean retrying;

  private boolean toProbe;

  RetryClock(EngineContext context, Timeline timeline, Runnable expired) {
    this.context = context;
    this.timeline = timeline;
    alarm = timeline.alarm(expired);
  }

  /** Starts anew for a new connection. */
  void reset() {
    stop();
    probed = false;
    answerTime = 0;
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
    } else if (wait == Wait.AWAITS_ANSWER && !untimed && context.options.flow().adaptive()) {
      answerTime = Math.max(timeline.now() - since, answerTime - answerTime / 8);
      probeDelay = Math.max(FIRST_PROBE_NANOS, LONG * answerTime);
    }
  }

  /** Restores all retries, with the current retry counts of the queue pair. */
  void reload() {
    retriesLeft = context.retryCount;
    rnrRetriesLeft = context.rnrRetry;
  }

  boolean isRetrying() {
    return retrying;
  }

  boolean awaitsReceiver() {
    return wait == Wait.AWAITS_RECEIVER;
  }

  /** Notes that a packet was sent; starts the wait for an answer unless a wait is under way. */
  void sent() {
    if (wait == Wait.IDLE) {
      restart();
    }
  }

  /**
   * Starts the wait for the next answer. Probes run also without a timeout: they detect a silent
   * peer, for whose window other queue pairs may be waiting.
   */
  void restart() {
    FlowControl flow = context.options.flow();
    if (context.timeout == 0 && !flow.adaptive()) {
      wait = Wait.IDLE;
      return;
    }
    wait = Wait.AWAITS_ANSWER;
    behind = 0;
    untimed = alarmSet && flow.lossless();
    if (!untimed) {
      begin(timeline.now());
    }
  }

  /** Lets the wait for an answer begin at this time. */
  private void begin(long now) {
    since = now;
    deadline = now + (context.timeout == 0 ? NEVER_NANOS : UNIT_NANOS << context.timeout);
    boolean probes = context.options.flow().adaptive();
    probeAt = probes ? Math.min(deadline, now + probeDelay) : deadline;
    arm();
  }

  /** Notes that no answer is outstanding. The alarm may still go off and then does nothing. */
  void answered() {
    wait = Wait.IDLE;
  }

  /** Uses one retry; returns false if none was left. */
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
   * Uses one RNR retry and waits for the time in the RNR NAK; returns false if no RNR retry was
   * left. Restores the other retries, since the peer is alive.
   */
  boolean awaitReceiver(int timerCode) {
    if (rnrRetriesLeft == 0) {
      return false;
    }
    if (rnrRetriesLeft != NO_LIMIT) {
      rnrRetriesLeft--;
    }
    retriesLeft = context.retryCount;
    wait = Wait.AWAITS_RECEIVER;
    deadline = timeline.now() + RnrTimer.nanos(timerCode);
    untimed = false;
    probeAt = deadline;
    arm();
    return true;
  }

  /**
   * Handles the alarm.
   *
   * @return whether the deadline has passed, so that the wait is over
   */
  boolean expired() {
    alarmSet = false;
    if (wait == Wait.IDLE) {
      return false;
    }
    long now = timeline.now();
    if (untimed) {
      untimed = false;
      begin(now);
      return false;
    }
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
   * Returns whether to wait for the port, since the answer may be among packets that were not
   * received yet.
   */
  private boolean waitsForPort() {
    if (behind < MOST_BEHIND && context.isBehind()) {
      behind++;
      return true;
    }
    return false;
  }

  /**
   * Returns whether it is time to probe for lost packets, and resets that; called after {@link
   * #expired}.
   */
  boolean isToProbe() {
    boolean probe = toProbe;
    toProbe = false;
    return probe;
  }

  /** Returns whether the wait for an answer is very long already. */
  boolean isLate() {
    return timeline.now() - since >= LATE_NANOS;
  }

  /**
   * Arms the alarm unless it goes off earlier, and is then armed again: most answers come in time.
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
