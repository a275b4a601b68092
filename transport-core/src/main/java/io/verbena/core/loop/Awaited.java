// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import org.jspecify.annotations.Nullable;

/**
 * An operation of a loop that another thread may await with a deadline. The loop checks the
 * deadline; while the loop is held up, its watchdog does.
 */
public interface Awaited {

  /** Returns the timeout of the operation, in nanoseconds. May be called by any thread. */
  long patience();

  /**
   * Ends the wait; called by a watchdog when the deadline has passed and the loop is held up.
   * Afterwards the loop does not signal the end of the operation; it frees the operation's
   * resources when it continues. Must not wait or call a program's code.
   *
   * @return an action that signals the end, and so may run a program's code and block; null if the
   *     loop signals it, or has done so
   */
  @Nullable Runnable expire(HeldUp why);
}
