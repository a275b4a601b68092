// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Receives that wait to be posted as one linked list, each with the connection that gave its frame
 * back, if one did: for a device for which each post has a price. Only on the loop.
 */
final class LinkedReceives {
  /** The number of receives that {@code disni://} hands over in one call. */
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

  /** Removes all requests, and the connections that gave back their frames. */
  void clear() {
    count = 0;
    Arrays.fill(givers, null);
  }

  /**
   * Posts the list; if that throws, {@link #firstRefused} returns the first request that was not
   * posted.
   */
  void post(SharedReceiveQueue queue) {
    int posted = link();
    queue.postReceive(requests[0]);
    Arrays.fill(givers, 0, posted, null);
  }

  /** The same, to a queue pair's own queue, whose receives have no givers. */
  void post(QueuePair pair) {
    int unused = link();
    pair.postReceive(requests[0]);
  }

  /** Makes a list of what waits, and returns how long it is. */
  private int link() {
    int length = count;
    count = 0;
    for (int i = 1; i < length; i++) {
      requests[i - 1].next(requests[i]);
    }
    requests[length - 1].next(null);
    return length;
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

  /**
   * Returns the connection that gave back the frame of a request of the list that was posted last.
   */
  @Nullable ReceiveShare giver(int index) {
    return givers[index];
  }
}
