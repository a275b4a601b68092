// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** A member of a loop whose peer may have gone without a word. Only on its loop; must not throw. */
public interface KeepAliveMember {

  /** The number of calls of {@link #keepAlive} in the time of {@code RdmaOptions.keepAlive}. */
  int KEEP_ALIVE_ROUNDS = 4;

  /**
   * Called {@link #KEEP_ALIVE_ROUNDS} times in each {@code RdmaOptions.keepAlive}: asks the peer
   * whether it is alive, if nothing else has shown that in all but one of them.
   *
   * @return whether it was asked
   */
  boolean keepAlive();
}
