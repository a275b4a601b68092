// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/**
 * A member of a loop. The loop's thread calls all methods except {@link #forEachAwaited}; none may
 * throw.
 */
public interface LoopMember extends QueueMember {

  /**
   * Calls {@code visitor} with this member's operations in progress that wait with a deadline.
   * Called by a watchdog while the loop is held up. The loop may continue meanwhile: this method
   * reads fields that the loop writes, as far as they are visible, and changes nothing. By default
   * visits none.
   */
  default void forEachAwaited(AwaitedVisitor visitor) {}

  /**
   * Called when the loop stops: the member leaves the loop.
   *
   * @param cause the reason of the stop
   * @param now whether the loop broke down and polls no more, so that no further call follows
   */
  void shutDown(Throwable cause, boolean now);
}
