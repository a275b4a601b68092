// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The threads that post requests on a device that lead to native objects: to address handles, or by
 * binds to windows and regions. A poster looks whether such an object is open, and hands its
 * pointer to the driver. So a thread that closes one marks it as closed, and destroys it after the
 * posts that found it open. Posters pay nothing for it: they hold the lock of their queue anyway.
 *
 * <p>A poster takes no lock of such an object: a thread that closes one may hold it.
 */
final class Posters {
  /** The locks of send queues. */
  private final Set<Object> locks = ConcurrentHashMap.newKeySet();

  /** Before the first of the requests is looked at that are posted under this lock. */
  void add(Object lock) {
    locks.add(lock);
  }

  /** Removes a lock under which nothing is posted any more. */
  void remove(Object lock) {
    locks.remove(lock);
  }

  /** Returns once no thread posts that found open what was marked as closed before this call. */
  void await() {
    for (Object lock : locks) {
      Monitors.awaitHolder(lock);
    }
  }
}
