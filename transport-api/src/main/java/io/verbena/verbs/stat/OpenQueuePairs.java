package io.verbena.verbs.stat;

import static java.util.Objects.requireNonNull;

import io.verbena.verbs.QueuePair;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** The queue pairs that are open in this JVM, of all providers. Thread-safe. */
public final class OpenQueuePairs {
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

  private OpenQueuePairs() {}

  /** For its provider: the queue pair is open. */
  public static void add(QueuePair pair) {
    OPEN.put(requireNonNull(pair, "pair"), NOBODY);
    if (!PUBLISHED.get() && PUBLISHED.compareAndSet(false, true)) {
      publish();
    }
  }

  /** On a thread of its own: the first connection does not wait until the JVM can be managed. */
  private static void publish() {
    Thread thread = new Thread(QueuePairsBean::register, "queue-pairs-bean");
    thread.setDaemon(true);
    thread.start();
  }

  /** For its provider: the queue pair is closed. Idempotent. */
  public static void remove(QueuePair pair) {
    OPEN.remove(pair);
  }

  /** For who has made an open queue pair: it is this one's, until it is closed. */
  public static void use(QueuePair pair, QueuePairUser user) {
    OPEN.replace(pair, requireNonNull(user, "user"));
  }

  /** All that are open now; it changes as they come and go. */
  public static Set<QueuePair> all() {
    return Collections.unmodifiableSet(OPEN.keySet());
  }

  /** Likewise, with their users. */
  static Map<QueuePair, QueuePairUser> users() {
    return OPEN;
  }
}
