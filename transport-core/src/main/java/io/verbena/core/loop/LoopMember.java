// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

/**
 * Belongs to a loop. All methods but {@link #forEachAwaited} are called on the loop's thread; none
 * may throw.
 */
public interface LoopMember extends QueueMember {

  /**
   * Calls {@code visitor} with the operations that wait for what this member has taken up. Called
   * by a watchdog while the loop is held up, which may go on meanwhile: reads what the loop writes,
   * as far as it can be seen, and changes nothing. Does nothing where no operation waits with a
   * deadline.
   */
  default void forEachAwaited(AwaitedVisitor visitor) {}

  /**
   * Called when the loop stops: the member leaves it.
   *
   * @param now whether this is the last call, because the loop broke down and polls no more
   */
  void shutDown(Throwable cause, boolean now);
}
