// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/**
 * Which acknowledgements may wait, so that one stands for several: those of messages that come and
 * are answered to and fro, one at a time and at once. There each acknowledgement is a packet of its
 * own beside an answer that tells the peer's program all it waits for. How long one waits is what
 * the IBTA calls the target ACK delay (volume 1, REQ message), far below what {@code timeout} can
 * sensibly be.
 *
 * <pre>{@code
 *            FEW messages, each answered, each soon after the one before
 * AT ONCE ----------------------------------------------------------------> HELD: one for MOST
 *    ^                                                                        |
 *    +---- a message that is late or was not answered; nothing came in time --+
 * }</pre>
 *
 * A peer that waits for the acknowledgement itself before it goes on lets the time run out; each
 * time in a row, twice as many messages must be answered at once before the next one is held.
 */
final class AckDelay {
  /** Messages that one acknowledgement stands for. */
  static final int MOST = 8;

  /** The longest that one waits. */
  static final long LONGEST_NANOS = 100_000;

  /** From one message to the next where both ends answer at once. */
  static final long SOON_NANOS = 50_000;

  /** Messages that were answered before the first one is held. */
  static final int FEW = 2;

  private static final int MANY = 1 << 20;

  /** A timeout is at least as many times the longest delay. */
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
   * Holds nothing yet.
   *
   * @param link whose timeout, which is mostly the peer's too, says what a delay may be
   * @param window what this end sends, which shows whether it answers
   * @param expired called when what is held must wait no longer
   */
  AckDelay(Link link, SendWindow window, Timeline timeline, Runnable expired) {
    this.link = link;
    this.window = window;
    this.timeline = timeline;
    this.expired = expired;
    alarm = timeline.alarm(this::alarm);
    cameBefore = timeline.now();
  }

  /** Starts anew, as a connection does. */
  void reset() {
    stop();
    answered = 0;
    needed = FEW;
    sentBefore = window.sentEnd;
  }

  /** Forgets what it holds. */
  void stop() {
    held = 0;
    if (alarmSet) {
      alarmSet = false;
      alarm.cancel();
    }
  }

  /** Whether acknowledgements wait. */
  boolean isHolding() {
    return held > 0;
  }

  /** What was held is acknowledged now, or by another answer. */
  void released() {
    held = 0;
  }

  /** A message came for which an acknowledgement is due; whether that may wait. */
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

  /** An alarm that is set goes off first and is then set again: most are released in time. */
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
