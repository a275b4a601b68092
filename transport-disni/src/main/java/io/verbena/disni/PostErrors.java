// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.PostException;
import io.verbena.verbs.VerbsError;
import org.jspecify.annotations.Nullable;

/**
 * Creates the exceptions of requests that are not posted, with the same messages for all queues.
 */
final class PostErrors {
  private PostErrors() {}

  static PostException invalid(long id, String message) {
    return new PostException(VerbsError.INVALID, id, message);
  }

  static PostException closed(long id, String queue) {
    return new PostException(VerbsError.CLOSED, id, queue + " is closed");
  }

  /**
   * Returns the exception for more scatter/gather entries than the queue takes, or null if they
   * fit.
   */
  static @Nullable PostException ofEntries(long id, int entries, int most) {
    return entries <= most
        ? null
        : invalid(id, "scatter/gather entries: " + entries + " (expected: <= " + most + ")");
  }

  /** Returns the exception for a queue whose slots are all held. */
  static PostException full(long id, String requests, int most) {
    return new PostException(
        VerbsError.NO_MEMORY,
        id,
        requests + " outstanding: " + most + " (expected: < " + most + ")");
  }

  /** Returns the exception for a request that the driver refused. */
  static PostException byDriver(long id, int negative) {
    return new PostException(Errno.error(-negative), id, "refused with errno " + -negative);
  }
}
