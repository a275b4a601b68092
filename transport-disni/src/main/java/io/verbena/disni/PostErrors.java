// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.PostException;
import io.verbena.verbs.VerbsError;
import org.jspecify.annotations.Nullable;

/** The errors of requests that are not posted, in the words that all queues have in common. */
final class PostErrors {
  private PostErrors() {}

  static PostException invalid(long id, String message) {
    return new PostException(VerbsError.INVALID, id, message);
  }

  static PostException closed(long id, String queue) {
    return new PostException(VerbsError.CLOSED, id, queue + " is closed");
  }

  /** More entries than the queue takes, or null if they are not. */
  static @Nullable PostException ofEntries(long id, int entries, int most) {
    return entries <= most
        ? null
        : invalid(id, "scatter/gather entries: " + entries + " (expected: <= " + most + ")");
  }

  /** All slots are held. */
  static PostException full(long id, String requests, int most) {
    return new PostException(
        VerbsError.NO_MEMORY,
        id,
        requests + " outstanding: " + most + " (expected: < " + most + ")");
  }

  /** The HCA or its driver refused it. */
  static PostException byDriver(long id, int negative) {
    return new PostException(Errno.error(-negative), id, "refused with errno " + -negative);
  }
}
