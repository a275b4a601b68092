// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.stock;

import com.ibm.disni.verbs.IbvWC;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Finds the cause of a missing completion. A send queue completes in order: if a request that is
 * posted later completes, the earlier one was done, too, and its completion is lost. A lost
 * completion is our fault, or DiSNI's; a request that the HCA leaves undone is rxe's fault.
 */
final class MissingCompletion {
  /** The text that a program prints after it waited in vain. */
  static final String STUCK = "no completion in 60 s";

  /** The text that a program prints if its request was not done. */
  static final String UNDONE = "the HCA has left a request undone";

  /** The text that a program prints if its request was done. */
  static final String LOST = "a completion is lost";

  private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(60);

  private static final long PROBE_NANOS = TimeUnit.SECONDS.toNanos(10);
  private static final long PAUSE_NANOS = 1_000_000;

  /** The id of the later request. */
  private static final long PROBE = Long.MAX_VALUE;

  private MissingCompletion() {}

  /** Polls for the next completion, whether or not there was an event for it. */
  interface Poll {
    /** Returns the completion, or null if there is none. */
    @Nullable IbvWC next() throws IOException;
  }

  /**
   * Returns how long an end waits for a completion. An end without a pending send waits longer,
   * until its peer has found the cause of its missing completion.
   */
  static long limit(StockBuffer buffer) {
    return buffer.isSending() ? LIMIT_NANOS : LIMIT_NANOS + 2 * PROBE_NANOS;
  }

  /** Returns the reason why no completion came within the limit. */
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
