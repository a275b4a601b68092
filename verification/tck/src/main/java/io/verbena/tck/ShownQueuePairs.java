// SPDX-License-Identifier: Apache-2.0
package io.verbena.tck;

import io.verbena.verbs.QueuePair;
import io.verbena.verbs.provider.QueuePairListener;
import java.util.Collections;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The queue pairs that providers have announced as open and not yet as closed. Thread-safe. */
public final class ShownQueuePairs implements QueuePairListener {
  private static final Set<QueuePair> OPEN = ConcurrentHashMap.newKeySet();

  /** Creates the listener, for {@link java.util.ServiceLoader}. */
  public ShownQueuePairs() {}

  /** Returns a live view of the open queue pairs. */
  static Set<QueuePair> all() {
    return Collections.unmodifiableSet(OPEN);
  }

  @Override
  public void opened(QueuePair pair) {
    OPEN.add(pair);
  }

  @Override
  public void closed(QueuePair pair) {
    OPEN.remove(pair);
  }
}
