// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import org.jspecify.annotations.Nullable;

/**
 * Something that a loop is to do and that somebody on another thread may wait for, with a deadline.
 * The deadline is the loop's to keep; while the loop is held up, its watchdog does.
 */
public interface Awaited {

  /** Returns how long it may be waited for, in nanoseconds. May be called by any thread. */
  long patience();

  /**
   * Ends the wait; called by a watchdog when the deadline has passed and the loop is held up. Once
   * this has returned, the loop signals no end of it; the loop frees what is to be freed when it
   * goes on. Neither waits nor calls foreign code.
   *
   * @return signals the end of the wait, which may be foreign code and take its time; null if the
   *     loop does, or did
   */
  @Nullable Runnable expire(HeldUp why);
}
