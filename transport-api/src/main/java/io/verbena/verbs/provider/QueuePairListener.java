// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.QueuePair;

/**
 * Listens to every queue pair that a provider opens or closes in this JVM. {@link
 * java.util.ServiceLoader} finds the implementations; {@link QueuePairListeners} calls them.
 *
 * <p>The thread that opens or closes the queue pair calls both methods, and may hold locks of its
 * provider: the methods must return at once, throw nothing and not call the queue pair.
 */
public interface QueuePairListener {

  /** Called when a queue pair is open. */
  void opened(QueuePair pair);

  /**
   * Called when a queue pair is closed, or was replaced by another one. May be called more than
   * once.
   */
  void closed(QueuePair pair);
}
