// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** A member of a loop whose peer may vanish without a notice. Only on the loop; must not throw. */
public interface KeepAliveMember {

  /** The number of calls of {@link #keepAlive} in each {@code RdmaOptions.keepAlive}. */
  int KEEP_ALIVE_ROUNDS = 4;

  /**
   * Called {@link #KEEP_ALIVE_ROUNDS} times in each {@code RdmaOptions.keepAlive}: probes the peer,
   * if all of these rounds but one have passed without a completion.
   *
   * @return whether the peer was probed
   */
  boolean keepAlive();
}
