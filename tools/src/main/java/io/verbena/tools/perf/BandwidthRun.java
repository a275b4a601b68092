package io.verbena.tools.perf;

import io.verbena.tools.end.ToolFailure;
import java.io.IOException;

/** Bandwidth of one size: one end posts as much as fits, the other receives. One thread. */
final class BandwidthRun {
  private static final double NANOS_PER_SECOND = 1e9;

  private final Wire wire;
  private final PerfPlan plan;
  private final boolean gbits;
  private final Spread spread = new Spread();
  private final long[] posts;
  private final long[] completions;
  private long posted;
  private long completed;

  BandwidthRun(Wire wire, boolean gbits) {
    this.wire = wire;
    this.plan = wire.plan();
    this.gbits = gbits;
    posts = new long[plan.peak() ? plan.iterations() : plan.txDepth()];
    completions = new long[plan.peak() ? plan.iterations() : 0];
  }

  /** Posts, and waits for the completions. */
  Bandwidth send() throws ToolFailure, IOException, InterruptedException {
    int every = moderation();
    long begin = System.nanoTime();
    long last = begin;
    boolean enough = false;
    while (!enough || completed < posted) {
      while (!enough && posted - completed < plan.txDepth()) {
        posts[(int) (posted % posts.length)] = System.nanoTime();
        posted++;
        boolean ends = posted == plan.iterations();
        boolean signaled = ends || posted % every == 0;
        wire.post(posted, signaled);
        enough = ends || (plan.isTimed() && signaled && isLate(begin));
      }
      int polled = wire.pollSent();
      if (polled == 0) {
        wire.isOver(true);
        continue;
      }
      last = System.nanoTime();
      complete(wire.completions()[polled - 1].workRequestId(), last);
    }
    return result(posted, last - begin);
  }

  private boolean isLate(long begin) {
    return System.nanoTime() - begin >= plan.duration().toNanos();
  }

  /** Messages to a completion: as asked for, but no more than fit, and each of large ones. */
  private int moderation() {
    return Math.min(plan.cqModeration(), plan.txDepth());
  }

  private void complete(long upTo, long now) {
    for (; completed < upTo; completed++) {
      spread.record(now - posts[(int) (completed % posts.length)]);
      if (completions.length > 0) {
        completions[(int) completed] = now;
      }
    }
  }

  /** Receives all, or what comes until the client has ended. */
  Bandwidth receive() throws ToolFailure, IOException, InterruptedException {
    long received = 0;
    long begin = 0;
    long last = 0;
    boolean over = false;
    while (plan.isTimed() || received < plan.iterations()) {
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
      begin = received == 0 ? last : begin;
      received += polled;
      wire.postReceives(polled);
    }
    return result(received, last - begin);
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
