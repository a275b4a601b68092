// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import java.io.IOException;

/**
 * Measures the bandwidth of one size: one end keeps the send queue of each queue pair full, the
 * other receives; or both do both. One thread.
 */
final class BandwidthRun {
  private static final double NANOS_PER_SECOND = 1e9;

  private final PerfConnection connection;
  private final PerfPlan plan;
  private final boolean gbits;
  private final LatencyHistogram histogram = new LatencyHistogram();
  private final SendWindow[] windows;
  private final long[] posts;
  private final long[] completions;
  private final int every;
  private long begin;
  private long posted;
  private long completed;

  BandwidthRun(PerfConnection connection, boolean gbits) {
    this.connection = connection;
    this.plan = connection.plan();
    this.gbits = gbits;
    // As asked for, but no more than fit, and each of large ones.
    every = Math.min(plan.cqModeration(), plan.txDepth());
    windows = new SendWindow[plan.pairs()];
    for (int i = 0; i < windows.length; i++) {
      windows[i] = new SendWindow(plan.txDepth());
    }
    posts = new long[plan.peak() ? (int) plan.total() : 0];
    completions = new long[posts.length];
  }

  /**
   * Posts, and waits for the completions.
   *
   * @param receiving whether the other end posts as much to this one
   */
  Bandwidth send(boolean receiving) throws ToolFailure, IOException, InterruptedException {
    long awaited = receiving ? plan.total() : 0;
    begin = System.nanoTime();
    long last = begin;
    boolean done = false;
    while (!done || awaited > 0) {
      for (int i = 0; i < windows.length; i++) {
        fill(i);
      }
      int sent = connection.pollSent();
      if (sent > 0) {
        last = System.nanoTime();
        for (int i = 0; i < sent; i++) {
          complete(connection.completions()[i].workRequestId(), last);
        }
        done = isDone();
      }
      int received = receiving ? connection.pollReceived() : 0;
      connection.repostReceives(received);
      awaited -= received;
      if (sent + received == 0) {
        connection.isOver(true);
      }
    }
    connection.awaitCredits();
    return result(posted, posted, last - begin);
  }

  private void fill(int index) {
    SendWindow window = windows[index];
    while (window.hasRoom() && connection.mayPost(index, window.posted())) {
      long now = System.nanoTime();
      if (posts.length > 0) {
        posts[(int) posted] = now;
      }
      posted++;
      long number = window.post(now);
      boolean ends = number == plan.iterations();
      boolean signaled = ends || number % every == 0;
      connection.post(index, number * windows.length + index, signaled);
      if (ends || (plan.isTimed() && signaled && isLate())) {
        window.end();
      }
    }
  }

  private boolean isLate() {
    return System.nanoTime() - begin >= plan.duration().toNanos();
  }

  private void complete(long id, long now) {
    SendWindow window = windows[(int) (id % windows.length)];
    long upTo = id / windows.length;
    while (window.completed() < upTo) {
      histogram.record(now - window.complete());
      if (completions.length > 0) {
        completions[(int) completed] = now;
      }
      completed++;
    }
  }

  private boolean isDone() {
    for (SendWindow window : windows) {
      if (!window.isDone()) {
        return false;
      }
    }
    return true;
  }

  /** Receives all messages, or those that come until the client has ended. */
  Bandwidth receive() throws ToolFailure, IOException, InterruptedException {
    ReceiveClock clock = new ReceiveClock();
    boolean over = false;
    while (plan.isTimed() || clock.count() < plan.total()) {
      connection.pollCredits();
      int polled = connection.pollReceived();
      if (polled == 0) {
        if (over) {
          break;
        }
        // Messages sent before the client's end may have arrived since the last poll.
        over = connection.isOver(false);
        continue;
      }
      clock.came(polled, System.nanoTime());
      connection.repostReceives(polled);
    }
    connection.awaitCredits();
    return result(clock.count(), clock.timed(), clock.nanos());
  }

  /**
   * @param timed how many of {@code count} were done in {@code nanos}; with none the average is 0
   */
  private Bandwidth result(long count, long timed, long nanos) {
    double seconds = Math.max(1, nanos) / NANOS_PER_SECOND;
    return new Bandwidth(
        connection.size(),
        count,
        peak(),
        timed * (double) connection.size() / seconds,
        histogram,
        gbits);
  }

  /** The best rate between the post of a message and the completion of it or of a later one. */
  private double peak() {
    if (completions.length == 0 || completed < completions.length) {
      return 0;
    }
    double least = Double.MAX_VALUE;
    for (int i = 0; i < completions.length; i++) {
      for (int j = i; j < completions.length; j++) {
        least = Math.min(least, (completions[j] - posts[i]) / (double) (j - i + 1));
      }
    }
    return connection.size() / Math.max(1, least) * NANOS_PER_SECOND;
  }
}
