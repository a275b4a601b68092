// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.provider.QueuePairListener;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The open queue pairs of this JVM, of all providers. {@link java.util.ServiceLoader} makes
 * instances for the providers; all instances share one table. Thread-safe.
 */
public final class OpenQueuePairs implements QueuePairListener {
  private static final QueuePairUser NOBODY =
      new QueuePairUser() {
        @Override
        public String name() {
          return "";
        }

        @Override
        public Map<String, Integer> credits() {
          return Map.of();
        }
      };

  private static final ConcurrentMap<QueuePair, QueuePairUser> OPEN = new ConcurrentHashMap<>();
  private static final AtomicBoolean PUBLISHED = new AtomicBoolean();

  /** For {@link java.util.ServiceLoader}. */
  public OpenQueuePairs() {}

  @Override
  public void opened(QueuePair pair) {
    OPEN.put(requireNonNull(pair, "pair"), NOBODY);
    if (!PUBLISHED.get() && PUBLISHED.compareAndSet(false, true)) {
      publish();
    }
  }

  /**
   * Registers the bean on a thread of its own, so that the first connection does not wait for the
   * JVM's management.
   */
  private static void publish() {
    Thread thread = new Thread(QueuePairsBean::register, "queue-pairs-bean");
    thread.setDaemon(true);
    thread.start();
  }

  @Override
  public void closed(QueuePair pair) {
    OPEN.remove(pair);
  }

  /**
   * Sets the user of a queue pair, until the queue pair is closed. Does nothing if it is not open.
   *
   * @param user the object whose name and credits are shown
   */
  public static void use(QueuePair pair, QueuePairUser user) {
    OPEN.replace(pair, requireNonNull(user, "user"));
  }

  /** Returns the open queue pairs with their users: a live view. */
  static Map<QueuePair, QueuePairUser> users() {
    return OPEN;
  }
}
