// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.MemoryLimitException;
import java.util.concurrent.TimeUnit;

/**
 * The HCA refused to register a slab, most often as no more memory may be locked. It is not asked
 * for as much again before something was deregistered here, or, as others lock memory too, a second
 * has gone by.
 *
 * @param length bytes that it refused
 * @param closings registrations that had been closed by then
 * @param at when that was
 * @param why what it said
 */
record HcaRefusal(int length, long closings, long at, MemoryLimitException why) {
  private static final long PAUSE = TimeUnit.SECONDS.toNanos(1);

  HcaRefusal(int length, long closings, MemoryLimitException why) {
    this(length, closings, System.nanoTime(), why);
  }

  /** Returns whether it would refuse so many bytes again. */
  boolean covers(int wanted, long closingsNow) {
    return wanted >= length && closings == closingsNow && System.nanoTime() - at < PAUSE;
  }
}
