// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.device;

import io.verbena.core.loop.DutyCycle;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Device;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Takes the asynchronous events of a device and tells whoever asked for it that a queue pair has
 * failed. A queue pair on a shared receive queue needs them: where it fails while it sends nothing,
 * no completion tells. A thread of its own does so, or a {@link DutyCycleInvoker} in its place.
 * Thread-safe.
 */
public final class AsyncEvents {
  private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(1);

  private final Device device;
  private final @Nullable DutyCycleInvoker invoker;
  private final Map<QueuePair, Runnable> listeners = new ConcurrentHashMap<>();
  private final Thread thread;
  private volatile boolean closed;

  /**
   * Takes no events before {@link #start}.
   *
   * @param name of its thread
   * @param invoker invokes its duty cycle in place of a thread, or null
   */
  public AsyncEvents(String name, Device device, @Nullable DutyCycleInvoker invoker) {
    this.device = device;
    this.invoker = invoker;
    // It inherits nothing of whoever opens the transport, and would keep alive.
    thread = new Thread(null, this::work, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(AsyncEvents.class.getClassLoader());
  }

  /** Calls {@code onFailure} on this thread when this queue pair has failed; must not throw. */
  public void listenForFailure(QueuePair pair, Runnable onFailure) {
    listeners.put(pair, onFailure);
  }

  /** Starts the thread, or adds its duty cycle to the invoker. */
  public void start() {
    if (invoker == null) {
      thread.start();
    } else {
      invoker.add(new EventCycle());
    }
  }

  /** Drops further events of this queue pair. */
  public void forget(QueuePair pair) {
    listeners.remove(pair);
  }

  private final class EventCycle implements DutyCycle {
    @Override
    public boolean doWork() {
      return !closed && takeEvent(0);
    }

    @Override
    public boolean isOver() {
      return closed;
    }
  }

  private void work() {
    while (!closed) {
      takeEvent(LONGEST_WAIT);
    }
  }

  private boolean takeEvent(long nanos) {
    try {
      AsyncEvent event = device.awaitAsyncEvent(nanos);
      if (event != null && event.source() instanceof QueuePair pair && isFailure(event.type())) {
        Runnable listener = listeners.get(pair);
        if (listener != null) {
          listener.run();
        }
      }
      return event != null;
    } catch (VerbsException e) {
      // The device has failed: connection events tell so, and it raises nothing any more.
      closed = true;
      return false;
    } catch (InterruptedException e) {
      // The thread is its own: only a closing of the whole program interrupts it.
      closed = true;
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Returns whether a queue pair has failed, of which its completions may not tell. */
  private static boolean isFailure(AsyncEvent.Type type) {
    return switch (type) {
      case QP_FATAL, QP_REQ_ERR, QP_ACCESS_ERR, QP_LAST_WQE_REACHED -> true;
      case CQ_ERR,
          COMM_EST,
          SQ_DRAINED,
          SRQ_LIMIT_REACHED,
          DEVICE_FATAL,
          SRQ_ERR,
          PORT_ACTIVE,
          PORT_ERR ->
          false;
    };
  }

  /** Takes no more events; before the device is closed, which ends the wait for one. */
  public void close() {
    closed = true;
  }

  /** Waits for the thread, after the device was closed. */
  public void join(long nanos) throws InterruptedException {
    if (thread.isAlive()) {
      TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
    }
  }
}
