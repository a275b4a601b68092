// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.medium;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Remembers the choice that led to a peer at the last connect. A choice ages, because a better one
 * may have become possible. The latest 1024 choices are kept. Thread-safe.
 *
 * @param <P> the peer
 * @param <C> the choice
 */
public final class PeerMemory<P, C> {
  private static final int MOST = 1024;

  private record Entry<C>(C choice, long since) {}

  private final Map<P, Entry<C>> entries =
      new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<P, Entry<C>> eldest) {
          return size() > MOST;
        }
      };

  /** Returns the choice for a peer, however old; null if there is none. */
  public synchronized @Nullable C get(P peer) {
    Entry<C> entry = entries.get(peer);
    return entry == null ? null : entry.choice;
  }

  /**
   * Returns the choice for a peer; null if there is none, or if it is at least {@code nanos}
   * nanoseconds old.
   */
  public synchronized @Nullable C get(P peer, long nanos) {
    Entry<C> entry = entries.get(peer);
    return entry == null || isOld(entry, nanos) ? null : entry.choice;
  }

  private static boolean isOld(Entry<?> entry, long nanos) {
    return System.nanoTime() - entry.since >= nanos;
  }

  /**
   * Stores a choice. If it is the same as before, its age is kept until it is old.
   *
   * @param nanos the age at which a choice is old, in nanoseconds
   * @return whether the choice differs from the one before
   */
  public synchronized boolean put(P peer, C choice, long nanos) {
    Entry<C> last = entries.get(peer);
    boolean isNews = last == null || !last.choice.equals(choice);
    if (isNews || isOld(last, nanos)) {
      entries.remove(peer);
      entries.put(peer, new Entry<>(choice, System.nanoTime()));
    }
    return isNews;
  }

  /** Drops the choice for a peer, if it is still this one. */
  public synchronized void remove(P peer, C choice) {
    Entry<C> last = entries.get(peer);
    if (last != null && last.choice.equals(choice)) {
      entries.remove(peer);
    }
  }
}
