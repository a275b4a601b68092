// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/** Belongs to a loop. All methods are called on the loop's thread and must not throw. */
public interface LoopMember extends CompletionTarget, KeepAliveMember {

  /** Called on each tick of the loop's coarse clock. */
  void tick();

  /**
   * Called when the loop stops: the member leaves it.
   *
   * @param now whether this is the last call, because the loop broke down and polls no more
   */
  void shutDown(Throwable cause, boolean now);
}
