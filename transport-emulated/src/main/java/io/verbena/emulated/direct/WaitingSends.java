// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.QueuePairOptions;
import io.verbena.verbs.SendWorkRequest;
import java.nio.ByteBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Copies of waiting requests and their inline data, with one slot for each request that may be
 * outstanding. The slots are created when the first request waits, and each copy when its slot is
 * first used. Used by the owner of the queue only.
 */
final class WaitingSends {
  private static final @Nullable SendWorkRequest[] NONE = {};

  private final int maxSend;
  private final int maxInlineData;
  private final int maxScatterGather;
  private @Nullable SendWorkRequest[] requests = NONE;
  private @Nullable ByteBuffer[] inlineCopies = {};

  WaitingSends(QueuePairOptions options) {
    maxSend = options.maxSend();
    maxInlineData = options.maxInlineData();
    maxScatterGather = options.maxSendScatterGather();
  }

  /**
   * Copies a request that must wait, and its inline data, since the caller may reuse its buffer
   * after the post.
   */
  void keep(SendWorkRequest request, long position) {
    if (requests == NONE) {
      inlineCopies = new @Nullable ByteBuffer[maxSend];
      requests = new @Nullable SendWorkRequest[maxSend];
    }
    int slot = (int) (position % maxSend);
    SendWorkRequest copy = requests[slot];
    if (copy == null) {
      // A bind has a buffer, even where no request with data may have one.
      copy = new SendWorkRequest(Math.max(1, maxScatterGather));
      requests[slot] = copy;
    }
    copy.copyFrom(request);
    ByteBuffer inline = request.inlineData();
    if (inline != null) {
      ByteBuffer place = inlineCopies[slot];
      if (place == null) {
        place = ByteBuffer.allocate(maxInlineData);
        inlineCopies[slot] = place;
      }
      place.limit(inline.remaining());
      place.put(0, inline, inline.position(), inline.remaining());
      copy.inline(place);
    }
  }

  /** Returns a request that was kept. */
  SendWorkRequest request(long position) {
    return requireNonNull(requests[(int) (position % maxSend)]);
  }
}
