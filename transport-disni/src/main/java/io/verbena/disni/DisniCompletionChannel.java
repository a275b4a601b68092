// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.CompletionChannel;
import io.verbena.verbs.CompletionQueue;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Arrays;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A completion channel ({@code ibv_create_comp_channel(3)}). */
final class DisniCompletionChannel implements CompletionChannel {
  private final DisniDevice device;
  private final long pointer;
  private final Waiter waiter;
  private boolean closed;
  private boolean destroyed;

  /** Replaced, never changed: an event looks its queue up without a lock. */
  private volatile DisniCompletionQueue[] queues = new DisniCompletionQueue[0];

  DisniCompletionChannel(DisniDevice device, long pointer) {
    this.device = device;
    this.pointer = pointer;
    waiter =
        new Waiter(
            "get completion event",
            (wakeupFd, millis) -> Extension.completionEvent(pointer, wakeupFd, millis));
  }

  DisniDevice device() {
    return device;
  }

  long pointer() {
    return pointer;
  }

  /**
   * Makes a completion queue on this channel.
   *
   * @throws VerbsException {@code CLOSED} if the channel is
   */
  synchronized DisniCompletionQueue attach(Supplier<DisniCompletionQueue> make) {
    if (closed) {
      throw new VerbsException(VerbsError.CLOSED, "create completion queue: the channel is closed");
    }
    DisniCompletionQueue queue = make.get();
    DisniCompletionQueue[] more = Arrays.copyOf(queues, queues.length + 1);
    more[queues.length] = queue;
    queues = more;
    return queue;
  }

  synchronized void detach(DisniCompletionQueue queue) {
    queues =
        Arrays.stream(queues).filter(other -> other != queue).toArray(DisniCompletionQueue[]::new);
  }

  @Override
  public @Nullable CompletionQueue await(long timeoutNanos) throws InterruptedException {
    long came = waiter.await(timeoutNanos);
    if (came == 0) {
      return null;
    }
    for (DisniCompletionQueue queue : queues) {
      if (queue.pointer() == came) {
        queue.eventCame();
        return queue;
      }
    }
    // Between its creation and its attachment a queue is not armed, and it leaves with all events.
    throw new AssertionError("an event of an unknown completion queue");
  }

  @Override
  public void wakeup() {
    waiter.wakeup();
  }

  /**
   * {@inheritDoc}
   *
   * <p>If the HCA refuses to destroy it, it tells nothing any more, and closing it can be tried
   * again.
   */
  @Override
  public synchronized void close() {
    if (destroyed) {
      return;
    }
    if (queues.length > 0) {
      throw new VerbsException(
          VerbsError.BUSY,
          "close completion channel: " + queues.length + " completion queues use it");
    }
    closed = true;
    waiter.close();
    Errno.check("destroy completion channel", device.disni().destroyCompChannel(pointer));
    destroyed = true;
    device.closed(DisniDevice.Kind.COMPLETION_CHANNEL);
  }
}
