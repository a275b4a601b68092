// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The send queues of a device whose requests hold pointers to other native objects: to address
 * handles, or in binds to windows and regions. A thread that posts such a request checks that the
 * object is open and passes its pointer to the driver. A thread that closes such an object marks it
 * as closed, calls {@link #await}, and then destroys it. Posting becomes no slower, because it
 * holds the lock of its queue anyway.
 *
 * <p>A posting thread must not take the lock of such an object, because the closing thread may hold
 * it while it waits.
 */
final class Posters {
  /** The locks of send queues. */
  private final Set<Object> locks = ConcurrentHashMap.newKeySet();

  /** Adds a lock; to be called before the first such request under this lock is checked. */
  void add(Object lock) {
    locks.add(lock);
  }

  /** Removes the lock of a queue that is closed. */
  void remove(Object lock) {
    locks.remove(lock);
  }

  /** Waits for all posts that may have found an object open before it was marked as closed. */
  void await() {
    for (Object lock : locks) {
      Monitors.awaitHolder(lock);
    }
  }
}
