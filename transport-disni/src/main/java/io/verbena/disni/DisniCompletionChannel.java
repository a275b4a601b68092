// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A completion channel ({@code ibv_create_comp_channel(3)}). */
final class DisniCompletionChannel implements CompletionChannel {
  private final DisniDevice device;
  private final long pointer;
  private final int vector;
  private final Waiter waiter;
  private boolean closed;
  private boolean destroyed;

  private final List<DisniCompletionQueue> queues = new ArrayList<>();

  /**
   * @param vector the completion vector of its completion queues, which selects the interrupt of
   *     their events
   */
  DisniCompletionChannel(DisniDevice device, long pointer, int vector) {
    this.device = device;
    this.pointer = pointer;
    this.vector = vector;
    waiter =
        new Waiter(
            device.core(),
            "get completion event",
            (wakeupFd, millis) -> device.core().completionEventReady(pointer, wakeupFd, millis),
            device.context()::fail);
  }

  DisniDevice device() {
    return device;
  }

  long pointer() {
    return pointer;
  }

  int vector() {
    return vector;
  }

  /**
   * Makes a completion queue on this channel.
   *
   * @throws VerbsException {@code CLOSED} if the channel is closed
   */
  synchronized DisniCompletionQueue attach(Supplier<DisniCompletionQueue> make) {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, "create completion queue: the channel is closed");
    }
    DisniCompletionQueue queue = make.get();
    queues.add(queue);
    return queue;
  }

  /** Destroys a queue and removes it; no event is taken meanwhile. */
  synchronized void detach(DisniCompletionQueue queue, Runnable destroy) {
    destroy.run();
    queues.remove(queue);
  }

  @Override
  public @Nullable CompletionQueue await(long timeoutNanos) throws InterruptedException {
    long start = System.nanoTime();
    long left = timeoutNanos;
    while (waiter.await(left) > 0) {
      CompletionQueue queue = take();
      if (queue != null) {
        return queue;
      }
      // Another thread took the event.
      left = Math.max(0, timeoutNanos - (System.nanoTime() - start));
    }
    return null;
  }

  /**
   * Takes an event and counts it; returns null if there is none any more. Holds the monitor, so
   * that no queue of the channel can be closed meanwhile: destroying a queue waits for the
   * acknowledgement of all events taken, and this one is not yet counted.
   */
  private synchronized @Nullable CompletionQueue take() {
    if (closed) {
      return null;
    }
    long came = device.core().completionEvent(pointer);
    if (came == 0 || came == -Errno.EIO) {
      // Another thread took it, or the device is gone; then the next wait reports that.
      return null;
    }
    Errno.check("get completion event", came);
    for (DisniCompletionQueue queue : queues) {
      if (queue.pointer() == came) {
        queue.eventCame();
        return queue;
      }
    }
    throw new AssertionError("an event of an unknown completion queue");
  }

  @Override
  public void wakeup() {
    waiter.wakeup();
  }

  /**
   * {@inheritDoc}
   *
   * <p>If the HCA refuses to destroy the channel, it returns no more events, and {@code close} can
   * be called again.
   */
  @Override
  public synchronized void close() {
    if (destroyed) {
      return;
    }
    if (!queues.isEmpty()) {
      throw new VerbsException(
          VerbsError.BUSY,
          "close completion channel: " + queues.size() + " completion queues use it");
    }
    closed = true;
    waiter.close();
    Errno.check("destroy completion channel", device.core().destroyCompletionChannel(pointer));
    destroyed = true;
    device.closed(DisniDevice.Kind.COMPLETION_CHANNEL);
  }
}
