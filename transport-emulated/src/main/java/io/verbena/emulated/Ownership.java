package io.verbena.emulated;

/**
 * Who may work on a queue: nobody (even) or one thread (odd). Taking it is a full fence, so that an
 * owner sees whatever was taken away from the HCA before a {@link #awaitHandover} that did not wait
 * for it. Uncontended it costs one compare-and-set; waiting spins, then yields, and lasts no longer
 * than the owner's work.
 */
final class Ownership {
  private static final int SPINS = 200;

  private final PaddedLong epoch = new PaddedLong();

  void acquire() {
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

  void release() {
    epoch.setRelease(epoch.getOpaque() + 1);
  }

  /** Returns once the owner of this moment, if there is one, has released. */
  void awaitHandover() {
    long now = epoch.getVolatile();
    if ((now & 1) != 0) {
      for (int spins = 0; epoch.getAcquire() == now; spins++) {
        pause(spins);
      }
    }
  }

  // An owner that lost its CPU in the middle of a long copy gets it back sooner so.
  @SuppressWarnings("ThreadPriorityCheck")
  static void pause(int spins) {
    if (spins < SPINS) {
      Thread.onSpinWait();
    } else {
      Thread.yield();
    }
  }
}
