// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs.provider;

import io.verbena.verbs.QueuePair;

/**
 * Learns of every queue pair that a provider opens or closes in this JVM. {@link
 * java.util.ServiceLoader} finds the implementations; {@link QueuePairListeners} calls them.
 *
 * <p>Both methods are called by the thread that opens or closes the queue pair, which may hold
 * locks of its provider: they must return at once, throw nothing and not call the queue pair.
 */
public interface QueuePairListener {

  /** A queue pair is open. */
  void opened(QueuePair pair);

  /** A queue pair is closed, or was replaced by another one. May be called more than once. */
  void closed(QueuePair pair);
}
