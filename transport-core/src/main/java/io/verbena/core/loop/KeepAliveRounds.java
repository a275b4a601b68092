// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.RdmaOptions;

/**
 * Goes round all members of a loop, {@link KeepAliveMember#KEEP_ALIVE_ROUNDS} times in each {@link
 * RdmaOptions#keepAlive}, so that each asks its peer if that was silent. A round pauses now and
 * then: neither many members nor many answers may hold others up, or fill the HCA. Only on the
 * loop.
 *
 * @param <M> the members
 */
public final class KeepAliveRounds<M extends QueueMember> {
  /** The number of peers that are asked before a pause. */
  static final int MOST_ASKED = 64;

  /** The number of members that are visited before a pause. */
  static final int MOST_VISITED = 1024;

  private static final long PAUSE = 1_000_000;
  private static final long LEAST = 1_000_000 / KeepAliveMember.KEEP_ALIVE_ROUNDS;

  /** About 146 years: longer than any loop, and the sum with any time of the clock is in order. */
  private static final long NEVER = Long.MAX_VALUE / 2;

  private final CompletionQueues<M> queues;
  private final long roundNanos;
  private int index;
  private long begun;
  private long next;

  /** Goes round the members of {@code queues}. */
  public KeepAliveRounds(CompletionQueues<M> queues, RdmaOptions options) {
    this.queues = queues;
    long keepAlive = options.keepAlive().toNanos();
    roundNanos =
        keepAlive == 0 ? NEVER : Math.max(LEAST, keepAlive / KeepAliveMember.KEEP_ALIVE_ROUNDS);
  }

  /** The loop's clock begins. */
  public void start(long now) {
    next = now + roundNanos;
  }

  /** Returns how long nothing is to be done. */
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
