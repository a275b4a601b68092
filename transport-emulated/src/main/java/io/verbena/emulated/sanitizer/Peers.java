// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.Gid;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/** The watched queue pairs of this JVM, among which a queue pair finds its peer. */
final class Peers {
  private static final ConcurrentHashMap<Integer, CopyOnWriteArrayList<WatchedQueuePair>>
      BY_NUMBER = new ConcurrentHashMap<>();

  private Peers() {}

  static void add(WatchedQueuePair queuePair) {
    BY_NUMBER.computeIfAbsent(queuePair.number(), n -> new CopyOnWriteArrayList<>()).add(queuePair);
  }

  static void remove(WatchedQueuePair queuePair) {
    BY_NUMBER.computeIfPresent(
        queuePair.number(),
        (number, same) -> {
          same.remove(queuePair);
          return same.isEmpty() ? null : same;
        });
  }

  static @Nullable WatchedQueuePair find(Gid gid, int number) {
    for (WatchedQueuePair candidate :
        BY_NUMBER.getOrDefault(number, new CopyOnWriteArrayList<>())) {
      if (candidate.device().has(gid)) {
        return candidate;
      }
    }
    return null;
  }
}
