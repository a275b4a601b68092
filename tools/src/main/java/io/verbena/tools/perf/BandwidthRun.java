package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import java.io.IOException;

/**
 * Bandwidth of one size: one end posts as much as fits on each queue pair, the other receives; or
 * both do both. One thread.
 */
final class BandwidthRun {
  private static final double NANOS_PER_SECOND = 1e9;

  private final Wire wire;
  private final PerfPlan plan;
  private final boolean gbits;
  private final Spread spread = new Spread();
  private final Lane[] lanes;
  private final long[] posts;
  private final long[] completions;
  private final int every;
  private long begin;
  private long posted;
  private long completed;

  BandwidthRun(Wire wire, boolean gbits) {
    this.wire = wire;
    this.plan = wire.plan();
    this.gbits = gbits;
    // As asked for, but no more than fit, and each of large ones.
    every = Math.min(plan.cqModeration(), plan.txDepth());
    lanes = new Lane[plan.pairs()];
    for (int i = 0; i < lanes.length; i++) {
      lanes[i] = new Lane(plan.txDepth());
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
      for (int i = 0; i < lanes.length; i++) {
        fill(i);
      }
      int sent = wire.pollSent();
      if (sent > 0) {
        last = System.nanoTime();
        for (int i = 0; i < sent; i++) {
          complete(wire.completions()[i].workRequestId(), last);
        }
        done = isDone();
      }
      int received = receiving ? wire.pollReceived() : 0;
      wire.repostReceives(received);
      awaited -= received;
      if (sent + received == 0) {
        wire.isOver(true);
      }
    }
    return result(posted, last - begin);
  }

  private void fill(int index) {
    Lane lane = lanes[index];
    while (lane.hasRoom()) {
      long now = System.nanoTime();
      if (posts.length > 0) {
        posts[(int) posted] = now;
      }
      posted++;
      long number = lane.post(now);
      boolean ends = number == plan.iterations();
      boolean signaled = ends || number % every == 0;
      wire.post(index, number * lanes.length + index, signaled);
      if (ends || (plan.isTimed() && signaled && isLate())) {
        lane.end();
      }
    }
  }

  private boolean isLate() {
    return System.nanoTime() - begin >= plan.duration().toNanos();
  }

  private void complete(long id, long now) {
    Lane lane = lanes[(int) (id % lanes.length)];
    long upTo = id / lanes.length;
    while (lane.completed() < upTo) {
      spread.record(now - lane.complete());
      if (completions.length > 0) {
        completions[(int) completed] = now;
      }
      completed++;
    }
  }

  private boolean isDone() {
    for (Lane lane : lanes) {
      if (!lane.isDone()) {
        return false;
      }
    }
    return true;
  }

  /** Receives all, or what comes until the client has ended. */
  Bandwidth receive() throws ToolFailure, IOException, InterruptedException {
    long received = 0;
    long first = 0;
    long last = 0;
    boolean over = false;
    while (plan.isTimed() || received < plan.total()) {
      int polled = wire.pollReceived();
      if (polled == 0) {
        if (over) {
          break;
        }
        // What the client sent before it said so may have come since the queue was looked at.
        over = wire.isOver(false);
        continue;
      }
      last = System.nanoTime();
      first = received == 0 ? last : first;
      received += polled;
      wire.repostReceives(polled);
    }
    return result(received, last - first);
  }

  private Bandwidth result(long count, long nanos) {
    double seconds = Math.max(1, nanos) / NANOS_PER_SECOND;
    return new Bandwidth(
        wire.size(), count, peak(), count * (double) wire.size() / seconds, spread, gbits);
  }

  /** The best between the post of a message and the completion of a later one, or of itself. */
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
    return wire.size() / Math.max(1, least) * NANOS_PER_SECOND;
  }
}
