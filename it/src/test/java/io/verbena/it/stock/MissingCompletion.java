// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.verbs.IbvWC;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of a completion that does not come. A send queue is done in order: if a
 * request that is posted behind it completes, the one before was done too, and its completion is
 * lost. That is our fault, or DiSNI's; a request that the HCA leaves undone is rxe's.
 */
final class MissingCompletion {
  /** The text that a program prints when it has waited in vain. */
  static final String STUCK = "no completion in 60 s";

  /** The text that the program prints whose request was not done. */
  static final String UNDONE = "the HCA has left a request undone";

  /** The text that it prints when the request was done. */
  static final String LOST = "a completion is lost";

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final long PROBE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PAUSE_NANOS = 1_000_000;

  /** The id of the request behind. */
  private static final long PROBE = Long.MAX_VALUE;

  private MissingCompletion() {}

  /** Takes the next completion, whether somebody was told of it or not. */
  interface Poll {
    /** Returns it, or null if there is none. */
    @Nullable IbvWC next() throws IOException;
  }

  /**
   * Returns how long an end waits for a completion: for that of a receive until its peer has found
   * out what became of its send.
   */
  static long limit(StockBuffer buffer) {
    return buffer.isSending() ? LIMIT_NANOS : LIMIT_NANOS + 2 * PROBE_NANOS;
  }

  /** Returns the reason why none came within the limit. */
  static IllegalStateException reason(StockBuffer buffer, Poll poll) throws IOException {
    if (poll.next() != null) {
      return stuck(LOST + ": it is in its queue, but no event told so");
    }
    if (!buffer.isSending()) {
      return stuck("the peer has not sent");
    }
    buffer.writeNothing(PROBE);
    long start = System.nanoTime();
    while (System.nanoTime() - start < PROBE_NANOS) {
      IbvWC next = poll.next();
      if (next != null && next.getWr_id() == PROBE) {
        return stuck(LOST + ": another one behind it is done, with status " + next.getStatus());
      }
      if (next != null) {
        return stuck(UNDONE + " until another one was posted");
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return stuck(UNDONE + ", and another one behind it");
  }

  private static IllegalStateException stuck(String why) {
    return new IllegalStateException(STUCK + ": " + why);
  }
}
