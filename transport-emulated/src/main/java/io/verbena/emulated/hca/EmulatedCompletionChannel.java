// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The events of completion queues, and the thread that waits for them. A queue has at most one
 * event that is not taken yet. A producer takes the lock only if a queue is armed, for a few
 * instructions; the waiting thread parks, or drives the fabric, without the lock.
 */
public final class EmulatedCompletionChannel implements CompletionChannel, Fabric.Waiter {
  /** The channel's state of one of its queues; guarded by the channel's lock. */
  static final class Events {
    private boolean raised;
    private int unacknowledged;
  }

  private final EmulatedDevice device;
  private final ArrayDeque<EmulatedCompletionQueue> raised = new ArrayDeque<>();
  private int queues;
  private boolean wakeup;
  private boolean closed;
  private @Nullable Thread sleeper;
  private volatile @Nullable Runnable listener;

  /** Creates a channel without completion queues. The device has already counted the channel. */
  public EmulatedCompletionChannel(EmulatedDevice device) {
    this.device = device;
  }

  EmulatedDevice device() {
    return device;
  }

  /** Attaches a completion queue; returns false if the channel is closed. */
  synchronized boolean attach() {
    if (closed) {
      return false;
    }
    queues++;
    return true;
  }

  /** Returns whether the channel has a listener; its user then waits elsewhere. */
  boolean isListenedTo() {
    return listener != null;
  }

  @Override
  public synchronized boolean isDue() {
    return !raised.isEmpty() || wakeup || closed;
  }

  private void rouse(@Nullable Thread sleeping) {
    if (sleeping != null && sleeping != Thread.currentThread()) {
      device.fabric().rouse(sleeping);
    }
  }

  void raise(EmulatedCompletionQueue queue) {
    Thread toWake;
    Runnable toTell;
    synchronized (this) {
      if (!queue.events.raised) {
        queue.events.raised = true;
        raised.add(queue);
      }
      toWake = sleeper;
      toTell = listener;
    }
    rouse(toWake);
    if (toTell != null) {
      toTell.run();
    }
  }

  synchronized void acknowledge(EmulatedCompletionQueue queue, int count) {
    int open = queue.events.unacknowledged;
    if (count < 0 || count > open) {
      throw new VerbsException(
          VerbsError.INVALID, "acknowledge: " + count + " (expected: 0.." + open + ")");
    }
    queue.events.unacknowledged = open - count;
  }

  /**
   * Detaches a queue that is being closed.
   *
   * @throws VerbsException {@code BUSY} if events of the queue are not acknowledged
   */
  synchronized void forget(EmulatedCompletionQueue queue) {
    int open = queue.events.unacknowledged;
    if (open > 0) {
      throw new VerbsException(
          VerbsError.BUSY, "close completion queue: " + open + " events not acknowledged");
    }
    raised.removeIf(queue::equals);
    queues--;
  }

  @Override
  public @Nullable CompletionQueue await(long timeoutNanos) throws InterruptedException {
    long deadline = System.nanoTime() + Math.max(0, timeoutNanos);
    try {
      while (true) {
        synchronized (this) {
          EmulatedCompletionQueue queue = raised.poll();
          if (queue != null) {
            queue.events.raised = false;
            queue.events.unacknowledged++;
            return queue;
          }
          if (wakeup || closed) {
            wakeup = false;
            return null;
          }
          sleeper = Thread.currentThread();
        }
        long left = deadline - System.nanoTime();
        if (left <= 0) {
          return null;
        }
        if (Thread.interrupted()) {
          throw new InterruptedException();
        }
        if (!device.fabric().await(this, left)) {
          LockSupport.parkNanos(this, left);
        }
      }
    } finally {
      synchronized (this) {
        sleeper = null;
      }
    }
  }

  @Override
  public synchronized boolean listen(Runnable listener) {
    this.listener = listener;
    return true;
  }

  @Override
  public void wakeup() {
    Thread toWake;
    synchronized (this) {
      wakeup = true;
      toWake = sleeper;
    }
    rouse(toWake);
  }

  @Override
  public void close() {
    Thread toWake;
    synchronized (this) {
      if (closed) {
        return;
      }
      if (queues > 0) {
        throw new VerbsException(
            VerbsError.BUSY, "close completion channel: " + queues + " completion queues use it");
      }
      closed = true;
      toWake = sleeper;
    }
    rouse(toWake);
    device.closed(EmulatedDevice.Kind.COMPLETION_CHANNEL);
  }
}
