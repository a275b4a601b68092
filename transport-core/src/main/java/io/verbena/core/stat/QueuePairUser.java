// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import java.util.Map;

/**
 * A transport's object that uses a queue pair, for {@link io.verbena.verbs.stat.QueuePairsMXBean}.
 * Any thread may call the methods while the object works: they return at once, from fields as they
 * are, so a result may be a moment old.
 */
public interface QueuePairUser {

  /** Returns the kind of transport, in a word: {@code reactor}, {@code netty}. */
  String name();

  /**
   * Returns the unused credits that the peer has given, by kind; empty if the transport has none.
   */
  Map<String, Integer> credits();
}
