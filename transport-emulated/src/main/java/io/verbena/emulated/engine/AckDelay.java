// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

/**
 * Delays acknowledgements of a dialogue in which each end answers each message at once, so that one
 * acknowledgement covers several messages. Without a delay, each acknowledgement would be an extra
 * packet, although the peer's program waits only for the answer. The IBTA calls this the target ACK
 * delay (volume 1, REQ message); it is far below any sensible {@code timeout}.
 *
 * <pre>{@code
 *            FEW messages, each answered, each soon after the one before
 * AT ONCE ----------------------------------------------------------------> HELD: one for MOST
 *    ^                                                                        |
 *    +---- a message that is late or was not answered; nothing came in time --+
 * }</pre>
 *
 * If the peer waits for the acknowledgement itself, the delay expires. Each expiry in a row doubles
 * the number of messages that are acknowledged at once before the next acknowledgement is held.
 */
final class AckDelay {
  /** The most messages that one acknowledgement covers. */
  static final int MOST = 8;

  /** The longest delay of an acknowledgement. */
  static final long LONGEST_NANOS = 100_000;

  /**
   * The longest time from one message to the next that counts as answering at once; measured over
   * the messages since the last look at the clock, as each look costs a thirtieth of a round trip
   * in shared memory.
   */
  static final long SOON_NANOS = 50_000;

  /** The number of answered messages before the first one is held. */
  static final int FEW = 2;

  private static final int MANY = 1 << 20;

  /** A timeout must be at least this many times the longest delay. */
  private static final int MARGIN = 2;

  private final EngineContext context;
  private final SendWindow window;
  private final Timeline timeline;
  private final Timeline.Alarm alarm;
  private final Runnable expired;
  private int held;
  private int answered;
  private int needed = FEW;
  private int sentBefore;

  /** The messages since {@link #looked}. */
  private int messages;

  /** The time of the last look at the clock. */
  private long looked;

  private long deadline;
  private boolean alarmSet;

  /**
   * Creates a delay that holds nothing yet.
   *
   * @param context of the queue pair; its timeout, which the peer mostly shares, limits the delay
   * @param window the packets that this end sends; they show whether this end answers messages
   * @param expired called when a held acknowledgement must wait no longer
   */
  AckDelay(EngineContext context, SendWindow window, Timeline timeline, Runnable expired) {
    this.context = context;
    this.window = window;
    this.timeline = timeline;
    this.expired = expired;
    alarm = timeline.alarm(this::alarm);
    looked = timeline.now();
  }

  /** Starts anew for a new connection. */
  void reset() {
    stop();
    answered = 0;
    needed = FEW;
    sentBefore = window.sentEnd;
  }

  /** Drops the held acknowledgements. */
  void stop() {
    held = 0;
    if (alarmSet) {
      alarmSet = false;
      alarm.cancel();
    }
  }

  /** Returns whether acknowledgements are held. */
  boolean isHolding() {
    return held > 0;
  }

  /** Notes that the held acknowledgements are sent now or implied by another answer. */
  void released() {
    held = 0;
  }

  /**
   * Notes a message that requests an acknowledgement; returns whether that acknowledgement is held.
   */
  boolean holds() {
    boolean wasAnswered = window.sentEnd != sentBefore;
    sentBefore = window.sentEnd;
    messages++;
    if (!wasAnswered || !context.toleratesDelay(MARGIN * LONGEST_NANOS)) {
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
    if (held == 0 && !isSoon()) {
      answered = 0;
      return false;
    }
    held++;
    return true;
  }

  /**
   * Looks at the clock; returns whether messages come soon after each other. Then sets the alarm
   * for the first one that is held.
   */
  private boolean isSoon() {
    long now = timeline.now();
    boolean soon = now - looked < messages * SOON_NANOS;
    looked = now;
    messages = 0;
    if (soon) {
      deadline = now + LONGEST_NANOS;
      if (!alarmSet) {
        alarmSet = true;
        alarm.set(deadline);
      }
    }
    return soon;
  }

  /**
   * Handles the alarm. {@link #released} does not cancel the alarm, since most acknowledgements are
   * released in time; so the alarm is set again here if the deadline has moved.
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
