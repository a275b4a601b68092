// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.RdmaOptions;

/**
 * Visits all members of a loop, {@link KeepAliveMember#KEEP_ALIVE_ROUNDS} times in each {@link
 * RdmaOptions#keepAlive}, so that each can probe a silent peer. A round pauses after a number of
 * members or probes, so that it neither delays other work nor fills the HCA. Only on the loop.
 *
 * @param <M> the members
 */
public final class KeepAliveRounds<M extends QueueMember> {
  /** The number of peers that are probed before a pause. */
  static final int MOST_ASKED = 64;

  /** The number of members that are visited before a pause. */
  static final int MOST_VISITED = 1024;

  private static final long PAUSE = 1_000_000;
  private static final long LEAST = 1_000_000 / KeepAliveMember.KEEP_ALIVE_ROUNDS;

  /**
   * About 146 years: longer than any loop lives, and its sum with a time of the clock does not
   * overflow.
   */
  private static final long NEVER = Long.MAX_VALUE / 2;

  private final CompletionQueues<M> queues;
  private final long roundNanos;
  private int index;
  private long begun;
  private long next;

  /** Visits the members of {@code queues}. */
  public KeepAliveRounds(CompletionQueues<M> queues, RdmaOptions options) {
    this.queues = queues;
    long keepAlive = options.keepAlive().toNanos();
    roundNanos =
        keepAlive == 0 ? NEVER : Math.max(LEAST, keepAlive / KeepAliveMember.KEEP_ALIVE_ROUNDS);
  }

  /**
   * Starts the first period.
   *
   * @param now the time of the loop's clock, in nanoseconds
   */
  public void start(long now) {
    next = now + roundNanos;
  }

  /** Returns the time until {@link #run} has work, in nanoseconds. */
  public long nanosLeft(long now) {
    return Math.max(0, next - now);
  }

  /** Continues the round if a pause is over, or begins one if it is time. */
  public void run(long now) {
    if (now - next >= 0) {
      goOn(now);
    }
  }

  private void goOn(long now) {
    if (index == 0) {
      begun = now;
    }
    int asked = 0;
    int end = Math.min(queues.bound(), index + MOST_VISITED);
    while (index < end && asked < MOST_ASKED) {
      M member = queues.at(index++);
      if (member != null && member.keepAlive()) {
        asked++;
      }
    }
    if (index < queues.bound()) {
      next = now + PAUSE;
    } else {
      index = 0;
      next = begun + roundNanos;
    }
  }
}
