// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.memory;

import io.verbena.MemoryLimitException;
import java.util.concurrent.TimeUnit;

/**
 * A refusal of the HCA to register a slab, most often because the limit on locked memory is
 * reached. As many bytes are not tried again before memory is deregistered here, or a second has
 * passed, as other programs lock memory too.
 *
 * @param length the number of bytes refused
 * @param closings the number of registrations closed by then
 * @param at the time of the refusal, of {@link System#nanoTime}
 * @param why the error
 */
record HcaRefusal(int length, long closings, long at, MemoryLimitException why) {
  private static final long PAUSE = TimeUnit.SECONDS.toNanos(1);

  HcaRefusal(int length, long closings, MemoryLimitException why) {
    this(length, closings, System.nanoTime(), why);
  }

  /** Returns whether a registration of this many bytes is not to be tried. */
  boolean covers(int wanted, long closingsNow) {
    return wanted >= length && closings == closingsNow && System.nanoTime() - at < PAUSE;
  }
}
