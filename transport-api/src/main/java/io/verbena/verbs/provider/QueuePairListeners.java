// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.QueuePair;
import java.util.ServiceLoader;

/** Calls every {@link QueuePairListener} that the class loader of this class finds. Thread-safe. */
public final class QueuePairListeners {
  private static final QueuePairListener[] ALL =
      ServiceLoader.load(QueuePairListener.class, QueuePairListeners.class.getClassLoader())
          .stream()
          .map(ServiceLoader.Provider::get)
          .toArray(QueuePairListener[]::new);

  private QueuePairListeners() {}

  /** Announces an open queue pair; its provider calls this before it hands the queue pair out. */
  public static void opened(QueuePair pair) {
    for (QueuePairListener listener : ALL) {
      listener.opened(pair);
    }
  }

  /** Announces a closed queue pair. Idempotent. */
  public static void closed(QueuePair pair) {
    for (QueuePairListener listener : ALL) {
      listener.closed(pair);
    }
  }
}
