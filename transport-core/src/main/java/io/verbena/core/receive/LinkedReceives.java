// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.receive;

import io.verbena.verbs.PostException;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.ReceiveWorkRequest;
import io.verbena.verbs.SharedReceiveQueue;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Receives that wait to be posted as one linked list, for devices with costly posts. Each has the
 * connection that gave its frame back, if one did. Only on the loop.
 */
final class LinkedReceives {
  /** The most receives in a list: as many as {@code disni://} passes on in one call. */
  private static final int MOST = 16;

  private final ReceiveWorkRequest[] requests = new ReceiveWorkRequest[MOST];
  private final @Nullable ReceiveShare[] givers = new @Nullable ReceiveShare[MOST];
  private int count;

  LinkedReceives() {
    for (int i = 0; i < MOST; i++) {
      requests[i] = new ReceiveWorkRequest();
    }
  }

  /** Returns the number of waiting receives. */
  int count() {
    return count;
  }

  boolean isFull() {
    return count == MOST;
  }

  /** Returns the request to fill, which {@link #add} then adds. */
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

  /**
   * As {@link #post(SharedReceiveQueue)}, to a queue pair's own queue, whose receives have no
   * givers.
   */
  void post(QueuePair pair) {
    int unused = link();
    pair.postReceive(requests[0]);
  }

  /** Links the waiting receives to a list, and returns its length. */
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
   * Returns the index of the first refused request among the {@code posted} ones: 0, unless the
   * provider names another request.
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

  /** Returns the connection that gave back a frame of the list that was posted last. */
  @Nullable ReceiveShare giver(int index) {
    return givers[index];
  }
}
