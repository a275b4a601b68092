// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** Belongs to a loop. All methods are called on the loop's thread and must not throw. */
public interface LoopMember extends CompletionTarget {

  /** How often {@link #keepAlive} is called in the time of {@code RdmaOptions.keepAlive}. */
  int KEEP_ALIVE_ROUNDS = 4;

  /** Called at the end of a duty cycle in which {@link CompletionLoop#endDutyCycleWith} was. */
  void endDutyCycle();

  /** Called on each tick of the loop's coarse clock. */
  void tick();

  /**
   * Called {@link #KEEP_ALIVE_ROUNDS} times in each {@code RdmaOptions.keepAlive}: asks the peer
   * whether it is alive, if nothing else has shown that in all but one of them.
   *
   * @return whether it was asked
   */
  boolean keepAlive();

  /**
   * Called when the loop stops: the member leaves it.
   *
   * @param now whether this is the last call, because the loop broke down and polls no more
   */
  void shutDown(Throwable cause, boolean now);
}
