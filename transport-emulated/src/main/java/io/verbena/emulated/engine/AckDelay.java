// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/**
 * Decides which acknowledgements may wait, so that one stands for several: those of a dialogue in
 * which each end answers a single message at once. There each acknowledgement would be a packet of
 * its own beside an answer that tells the peer's program all it waits for. The delay is what the
 * IBTA calls the target ACK delay (volume 1, REQ message), far below any sensible {@code timeout}.
 *
 * <pre>{@code
 *            FEW messages, each answered, each soon after the one before
 * AT ONCE ----------------------------------------------------------------> HELD: one for MOST
 *    ^                                                                        |
 *    +---- a message that is late or was not answered; nothing came in time --+
 * }</pre>
 *
 * A peer that waits for the acknowledgement itself before it goes on lets the time run out; each
 * time in a row doubles the number of messages to answer at once before the next one is held.
 */
final class AckDelay {
  /** The most messages that one acknowledgement stands for. */
  static final int MOST = 8;

  /** The longest delay of an acknowledgement. */
  static final long LONGEST_NANOS = 100_000;

  /** The longest time from one message to the next that counts as answering at once. */
  static final long SOON_NANOS = 50_000;

  /** The number of answered messages before the first one is held. */
  static final int FEW = 2;

  private static final int MANY = 1 << 20;

  /** A timeout must be at least this many times the longest delay. */
  private static final int MARGIN = 2;

  private final Link link;
  private final SendWindow window;
  private final Timeline timeline;
  private final Timeline.Alarm alarm;
  private final Runnable expired;
  private int held;
  private int answered;
  private int needed = FEW;
  private int sentBefore;
  private long cameBefore;
  private long deadline;
  private boolean alarmSet;

  /**
   * Creates a delay that holds nothing yet.
   *
   * @param link the link, whose timeout, mostly the peer's too, limits the delay
   * @param window the packets that this end sends, which show whether it answers
   * @param expired called when a held acknowledgement must wait no longer
   */
  AckDelay(Link link, SendWindow window, Timeline timeline, Runnable expired) {
    this.link = link;
    this.window = window;
    this.timeline = timeline;
    this.expired = expired;
    alarm = timeline.alarm(this::alarm);
    cameBefore = timeline.now();
  }

  /** Starts anew, for a new connection. */
  void reset() {
    stop();
    answered = 0;
    needed = FEW;
    sentBefore = window.sentEnd;
  }

  /** Drops the acknowledgements that it holds. */
  void stop() {
    held = 0;
    if (alarmSet) {
      alarmSet = false;
      alarm.cancel();
    }
  }

  /** Returns whether acknowledgements wait. */
  boolean isHolding() {
    return held > 0;
  }

  /** Notes that the held acknowledgements are sent now, or implied by another answer. */
  void released() {
    held = 0;
  }

  /** Notes a message for which an acknowledgement is due; returns whether that may wait. */
  boolean holds() {
    long now = timeline.now();
    boolean atOnce = window.sentEnd != sentBefore && now - cameBefore < SOON_NANOS;
    sentBefore = window.sentEnd;
    cameBefore = now;
    if (!atOnce || !link.toleratesDelay(MARGIN * LONGEST_NANOS)) {
      answered = 0;
      return false;
    }
    if (answered < needed) {
      answered++;
      return false;
    }
    if (held == MOST - 1) {
      needed = FEW;
      return false;
    }
    if (held++ == 0) {
      deadline = now + LONGEST_NANOS;
      if (!alarmSet) {
        alarmSet = true;
        alarm.set(deadline);
      }
    }
    return true;
  }

  /**
   * Runs when the alarm goes off; sets it again if the deadline has moved: most acknowledgements
   * are released in time.
   */
  private void alarm() {
    alarmSet = false;
    if (held == 0) {
      return;
    }
    if (timeline.now() - deadline < 0) {
      alarmSet = true;
      alarm.set(deadline);
      return;
    }
    answered = 0;
    needed = Math.min(2 * needed, MANY);
    expired.run();
  }
}
