// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.verbena.verbs.PostException;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Receives that wait to be posted as one linked list, each with the connection that gave its frame
 * back, if one did: for a device for which each post has a price. Only on the loop.
 */
final class LinkedReceives {
  /** As many as {@code disni://} hands over at once. */
  private static final int MOST = 16;

  private final ReceiveWorkRequest[] requests = new ReceiveWorkRequest[MOST];
  private final @Nullable ReceiveShare[] givers = new @Nullable ReceiveShare[MOST];
  private int count;

  LinkedReceives() {
    for (int i = 0; i < MOST; i++) {
      requests[i] = new ReceiveWorkRequest();
    }
  }

  /** Returns how many wait. */
  int count() {
    return count;
  }

  boolean isFull() {
    return count == MOST;
  }

  /** Returns the request that {@link #add} adds, to fill. */
  ReceiveWorkRequest next() {
    return requests[count];
  }

  void add(@Nullable ReceiveShare giver) {
    givers[count++] = giver;
  }

  /** Forgets what waits, and who gave it back. */
  void clear() {
    count = 0;
    Arrays.fill(givers, null);
  }

  /** Posts what waits; if that throws, {@link #firstRefused} tells from where on it did not. */
  void post(SharedReceiveQueue queue) {
    int last = count - 1;
    count = 0;
    for (int i = 0; i < last; i++) {
      requests[i].next(requests[i + 1]);
    }
    requests[last].next(null);
    queue.postReceive(requests[0]);
    Arrays.fill(givers, 0, last + 1, null);
  }

  /**
   * Returns which of the {@code posted} requests is the first that was refused: that of all, where
   * the provider names no other.
   */
  int firstRefused(int posted, Throwable why) {
    if (why instanceof PostException inList) {
      for (int i = 0; i < posted; i++) {
        if (requests[i].id() == inList.workRequestId()) {
          return i;
        }
      }
    }
    return 0;
  }

  /** Returns the id of a request of the list that was posted last. */
  long id(int index) {
    return requests[index].id();
  }

  /** Returns who gave back the frame of a request of the list that was posted last. */
  @Nullable ReceiveShare giver(int index) {
    return givers[index];
  }
}
