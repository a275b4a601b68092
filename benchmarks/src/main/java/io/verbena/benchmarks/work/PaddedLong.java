// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** A long alone on its cache lines, handed from thread to thread. */
public final class PaddedLong {
  private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

  // 128 bytes on either side: adjacent lines are fetched in pairs.
  private static final int MIDDLE = 16;

  private final long[] line = new long[2 * MIDDLE + 1];

  /** Reads with acquire semantics. */
  public long getAcquire() {
    return (long) SLOT.getAcquire(line, MIDDLE);
  }

  /** Writes with release semantics. */
  public void setRelease(long value) {
    SLOT.setRelease(line, MIDDLE, value);
  }
}
