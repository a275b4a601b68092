// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.lang.invoke.VarHandle;

/**
 * Who may work on a queue: nobody (even) or one thread (odd). Taking it is a full fence, so that an
 * owner sees whatever was taken away from the HCA before a {@link #awaitHandover} that did not wait
 * for it. Uncontended it costs one compare-and-set; waiting spins, then yields, and lasts no longer
 * than the owner's work.
 */
public final class Ownership {
  private static final int SPINS = 200;

  private final PaddedLong epoch = new PaddedLong();

  /** While the owner copies nothing, because it waits for others who may. */
  private volatile boolean waiting;

  /** Takes it, as soon as nobody has it. */
  public void acquire() {
    long now = epoch.getOpaque();
    if ((now & 1) == 0 && epoch.compareAndSet(now, now + 1)) {
      return;
    }
    for (int spins = 0; ; spins++) {
      now = epoch.getOpaque();
      if ((now & 1) == 0 && epoch.compareAndSet(now, now + 1)) {
        return;
      }
      pause(spins);
    }
  }

  /** For the owner: gives it up. */
  public void release() {
    epoch.setRelease(epoch.getOpaque() + 1);
  }

  /** Returns once the owner of this moment, if there is one, has released. */
  public void awaitHandover() {
    long now = epoch.getVolatile();
    if ((now & 1) != 0) {
      for (int spins = 0; epoch.getAcquire() == now; spins++) {
        pause(spins);
      }
    }
  }

  /**
   * Returns once whatever the owner of this moment, if there is one, was copying is copied. Unlike
   * {@link #awaitHandover}, it may be called by owners, between {@link #beginWait} and {@link
   * #endWait}: two who wait for each other see that neither copies.
   */
  public void awaitCopies() {
    long now = epoch.getVolatile();
    if ((now & 1) != 0) {
      for (int spins = 0; epoch.getAcquire() == now && !waiting; spins++) {
        pause(spins);
      }
    }
  }

  /**
   * For the owner: it copies nothing, and trusts nothing it has looked up, until {@link #endWait}.
   */
  public void beginWait() {
    waiting = true;
  }

  /** For the owner: the end of that. */
  public void endWait() {
    waiting = false;
    VarHandle.fullFence();
  }

  // An owner that lost its CPU in the middle of a long copy gets it back sooner so.
  @SuppressWarnings("ThreadPriorityCheck")
  public static void pause(int spins) {
    if (spins < SPINS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }
}
