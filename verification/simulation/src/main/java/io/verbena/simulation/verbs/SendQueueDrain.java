// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

/** The drain of a send queue (SQD), from its start until the program resumes the queue. */
final class SendQueueDrain {
  /** The minimum time between two attempts to resume, in nanoseconds. */
  static final long MIN_PAUSE = 1 << 14;

  /** The number of the first request that must wait for the resumption. */
  private final int first;

  /** Whether the program requested the SQ_DRAINED event. */
  final boolean withEvent;

  /** The time until the program resumes the queue, in nanoseconds. */
  final long pause;

  /** Whether the SQ_DRAINED event was raised. */
  boolean eventRaised;

  SendQueueDrain(int first, boolean withEvent, long pause) {
    this.first = first;
    this.withEvent = withEvent;
    this.pause = pause;
  }

  /**
   * Returns whether a request may complete now: it was posted before the drain, and SQ_DRAINED was
   * not raised yet.
   */
  boolean mayComplete(int number) {
    return number < first && !eventRaised;
  }

  @Override
  public String toString() {
    return "from request " + first + (withEvent ? " on, with event" : " on") + ", " + pause + " ns";
  }
}
