// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.stat;

import java.util.Map;

/**
 * The transport's object that uses a queue pair, shown to people who look at a running program. Any
 * thread may call it while the object works: each method returns at once, from fields as they are,
 * and its result may be a moment old.
 */
public interface QueuePairUser {

  /** The kind of transport, in a word: {@code reactor}, {@code netty}. */
  String name();

  /** The peer's credits that are not used, by kind; empty without any. */
  Map<String, Integer> credits();
}
