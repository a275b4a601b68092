// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.core.RdmaCore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Waits in a native call until an object has an event, the time is over, or another thread calls
 * {@link #wakeup} or {@link #close}. A wait is cut into slices of 100 ms, because an interrupt does
 * not reach native code.
 */
final class Waiter {
  private static final long SLICE_NANOS = 100_000_000;

  /**
   * The native wait of an object. Returns 0 without an event, a positive number for an event, or a
   * negative errno: EIO if no event will ever come (uverbs_main.c, ib_uverbs_event_poll).
   */
  interface Wait {
    long await(int wakeupFd, int timeoutMillis);
  }

  private final RdmaCore core;
  private final String verb;
  private final Wait wait;
  private final Runnable onEnd;
  private final int fd;
  private final ReentrantLock waiting = new ReentrantLock();
  private volatile boolean woken;
  private volatile boolean closed;

  /**
   * Whether no event will ever come, so that threads wait for a wakeup only. Guarded by {@code
   * waiting}.
   */
  private boolean ended;

  /**
   * @param onEnd called once, when no event will ever come
   */
  Waiter(RdmaCore core, String verb, Wait wait, Runnable onEnd) {
    this.core = core;
    this.verb = verb;
    this.wait = wait;
    this.onEnd = onEnd;
    fd = Errno.check("eventfd", core.openWakeup());
  }

  boolean isClosed() {
    return closed;
  }

  /**
   * Waits for an event. If several threads wait, all but one of them wait for the lock.
   *
   * @return the positive result of the native wait, or 0 if the time is over, or on a wakeup or
   *     close
   */
  long await(long timeoutNanos) throws InterruptedException {
    long start = System.nanoTime();
    if (!waiting.tryLock(Math.max(0, timeoutNanos), TimeUnit.NANOSECONDS)) {
      return 0;
    }
    try {
      long left = Math.max(0, timeoutNanos - (System.nanoTime() - start));
      while (!closed) {
        long slice = Math.min(SLICE_NANOS, left);
        long came = awaitSlice((int) ((slice + 999_999) / 1_000_000));
        if (came > 0) {
          return came;
        }
        if (Thread.interrupted()) {
          throw new InterruptedException(verb);
        }
        left = timeoutNanos - (System.nanoTime() - start);
        if (woken || left <= 0) {
          woken = false;
          return 0;
        }
      }
      return 0;
    } finally {
      waiting.unlock();
    }
  }

  private long awaitSlice(int millis) throws InterruptedException {
    long came = ended ? -Errno.EIO : wait.await(fd, millis);
    if (came != -Errno.EIO) {
      return Errno.check(verb, came);
    }
    if (!ended) {
      ended = true;
      onEnd.run();
    }
    awaitWakeup(millis);
    return 0;
  }

  private synchronized void awaitWakeup(int millis) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = millis;
        left > 0 && !woken && !closed;
        left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime())) {
      wait(left);
    }
  }

  /** Wakes the waiting thread, or else the next thread that waits. */
  synchronized void wakeup() {
    if (!closed) {
      woken = true;
      notifyAll();
      Errno.check("wake up", core.wakeup(fd));
    }
  }

  /** Ends all waits. After it has returned, no thread waits, and no later wait blocks. */
  void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      notifyAll();
      Errno.check("wake up", core.wakeup(fd));
    }
    waiting.lock();
    try {
      Errno.check("close eventfd", core.closeWakeup(fd));
    } finally {
      waiting.unlock();
    }
  }
}
