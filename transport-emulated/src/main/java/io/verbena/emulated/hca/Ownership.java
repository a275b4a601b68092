// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.lang.invoke.VarHandle;

/**
 * The right to work on a queue, which nobody has (even epochs) or one thread (odd ones). Taking it
 * is a full fence, so that an owner sees everything that was taken away from the HCA before an
 * {@link #awaitHandover} that did not wait for it. Uncontended it costs one compare-and-set;
 * waiting spins, then yields, and lasts no longer than the owner's work.
 */
public final class Ownership {
  private static final int SPINS = 200;

  private final PaddedLong epoch = new PaddedLong();

  /** True while the owner copies nothing, because it waits for others that may copy. */
  private volatile boolean waiting;

  /** Takes ownership, as soon as no thread has it. */
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

  /** Gives ownership up; for the owner. */
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
   * Returns once the owner of this moment, if there is one, has finished its copies. Unlike {@link
   * #awaitHandover}, it may be called by owners, between {@link #beginWait} and {@link #endWait}:
   * two that wait for each other see that neither copies.
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
   * Begins a wait, during which the owner copies nothing, and after which it trusts nothing that it
   * looked up before; for the owner.
   */
  public void beginWait() {
    waiting = true;
  }

  /** Ends a wait; for the owner. */
  public void endWait() {
    waiting = false;
    VarHandle.fullFence();
  }

  // Yielding gives the CPU back sooner to an owner that lost it in the middle of a long copy.
  @SuppressWarnings("ThreadPriorityCheck")
  public static void pause(int spins) {
    if (spins < SPINS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }
}
