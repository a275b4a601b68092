// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import java.lang.invoke.VarHandle;

/**
 * The right to work on a queue: a spin lock whose epoch is odd while a thread owns it. Acquiring is
 * a full fence: an owner for which {@link #awaitHandover} did not wait sees everything that was
 * taken away from the HCA before that call. Without contention it costs one compare-and-set. A
 * waiting thread spins, then yields, until the owner's work is done.
 */
public final class Ownership {
  private static final int SPINS = 200;

  private final PaddedLong epoch = new PaddedLong();

  /** True while the owner copies nothing, because it waits for other threads that may copy. */
  private volatile boolean waiting;

  /** Acquires ownership; waits while another thread has it. Not reentrant. */
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

  /** Releases ownership. Called by the owner. */
  public void release() {
    epoch.setRelease(epoch.getOpaque() + 1);
  }

  /** Waits until the present owner, if there is one, has released. */
  public void awaitHandover() {
    long now = epoch.getVolatile();
    if ((now & 1) != 0) {
      for (int spins = 0; epoch.getAcquire() == now; spins++) {
        pause(spins);
      }
    }
  }

  /**
   * Waits until the present owner, if there is one, has finished its copies. Owners may call this
   * method, unlike {@link #awaitHandover}, between {@link #beginWait} and {@link #endWait}: two
   * owners that wait for each other see that neither copies.
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
   * Begins a wait, during which the owner copies nothing. After the wait the owner must look up
   * keys again. Called by the owner.
   */
  public void beginWait() {
    waiting = true;
  }

  /** Ends a wait. Called by the owner. */
  public void endWait() {
    waiting = false;
    VarHandle.fullFence();
  }

  /**
   * Waits a moment: spins at first, then yields, which sooner gives the CPU back to an owner that
   * lost it in the middle of a long copy.
   *
   * @param spins the number of calls before this one in the same wait
   */
  @SuppressWarnings("ThreadPriorityCheck")
  public static void pause(int spins) {
    if (spins < SPINS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }
}
