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
 * Events of completion queues and the thread that sleeps on them; a queue with an event that was
 * not taken yet gets no second one. The lock is held for a few instructions and only when a queue
 * was armed; the sleeper parks, or drives the fabric, without it.
 */
public final class EmulatedCompletionChannel implements CompletionChannel, Fabric.Waiter {
  /** The channel's state of one of its queues; under the channel's lock. */
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

  /** Creates a channel without completion queues, which its device has counted. */
  public EmulatedCompletionChannel(EmulatedDevice device) {
    this.device = device;
  }

  EmulatedDevice device() {
    return device;
  }

  /** Attaches a completion queue; false if the channel is closed. */
  synchronized boolean attach() {
    if (closed) {
      return false;
    }
    queues++;
    return true;
  }

  /** Returns whether it has a listener, so that its user waits elsewhere. */
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

  /** Drops a queue that is being closed. */
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
