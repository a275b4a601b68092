// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import org.HdrHistogram.Histogram;

/** The end that starts each round trip and measures its time. For one thread. */
public final class Ping {
  private static final long LONGEST_NANOS = 100_000_000_000L;

  private final MessageSource source;
  private final MessageCheck check;
  private final Histogram histogram = new Histogram(LONGEST_NANOS, 3);
  private long began;

  public Ping(int size) {
    this.source = new MessageSource(size);
    this.check = new MessageCheck(size);
  }

  /** Returns the size of every message in bytes. */
  public int size() {
    return source.size();
  }

  /** Writes a buffer once, before its first {@link #send}. */
  public void prepare(MessageView out) {
    source.prepare(out);
  }

  /** Writes the next message. */
  public void send(MessageView out) {
    source.next(out);
  }

  /** Returns the next sequence number, for limits that move no other content. */
  public long send() {
    return source.next();
  }

  /** Checks the reply and ends the round trip. */
  public void receive(MessageView in, int length) {
    check.accept(in, length);
    record();
  }

  /** Checks the reply of a limit that moves only a sequence number, and ends the round trip. */
  public void receive(long in) {
    check.accept(in);
    record();
  }

  /** Resets the times and starts the clock. Must not be called while messages are in flight. */
  public void restart() {
    histogram.reset();
    began = System.nanoTime();
  }

  /** Returns the round trips in nanoseconds since {@link #restart}. */
  Histogram times() {
    return histogram;
  }

  // Reads the clock once per round: two readings would take a fifth of the fastest round trips.
  private void record() {
    long now = System.nanoTime();
    histogram.recordValue(Math.min(now - began, LONGEST_NANOS));
    began = now;
  }
}
