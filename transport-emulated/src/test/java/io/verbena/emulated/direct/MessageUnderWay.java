// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static org.assertj.core.api.Assertions.assertThat;

import io.verbena.emulated.hca.Ownership;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** A message in flight between two queue pairs; the test stands in and owns the send queue. */
final class MessageUnderWay {
  private static final long DEADLINE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Number of successive observations after which a thread counts as waiting. */
  private static final int LOOKS = 20;

  private MessageUnderWay() {}

  /** Asserts that {@code action} does not end while the message is in flight. */
  static void assertIsWaitedFor(DirectQueuePair sender, DirectQueuePair receiver, Runnable action)
      throws InterruptedException {
    AtomicBoolean ended = new AtomicBoolean();
    Thread thread =
        new Thread(
            () -> {
              action.run();
              ended.set(true);
            },
            "waits-for-the-message");
    Ownership message = sender.sends().ownership;
    message.acquire();
    try {
      assertThat(sender.reachablePeer()).isSameAs(receiver);
      thread.start();
      long deadline = System.nanoTime() + DEADLINE_NANOS;
      for (int looks = 0; looks < LOOKS; looks = waits(thread) ? looks + 1 : 0) {
        assertThat(System.nanoTime()).as("neither waits nor ends").isLessThan(deadline);
        Thread.onSpinWait();
      }
      assertThat(ended).as("ended before the message").isFalse();
    } finally {
      message.release();
    }
    thread.join(TimeUnit.NANOSECONDS.toMillis(DEADLINE_NANOS));
    assertThat(ended).isTrue();
  }

  private static boolean waits(Thread thread) {
    if (thread.getState() == Thread.State.TERMINATED) {
      return true;
    }
    for (StackTraceElement frame : thread.getStackTrace()) {
      if (frame.getClassName().equals(Ownership.class.getName())) {
        return true;
      }
    }
    return false;
  }
}
