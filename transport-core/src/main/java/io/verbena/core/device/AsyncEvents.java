// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.device;

import io.verbena.core.loop.DutyCycle;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.Device;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Takes the asynchronous events of a device and calls the listener of each queue pair that has
 * failed. A queue pair on a shared receive queue needs them: where it fails while it sends nothing,
 * no completion shows that. A thread of its own does so, or a {@link DutyCycleInvoker} in its
 * place. Thread-safe.
 */
public final class AsyncEvents {
  private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(1);

  /** After an error the device is asked again, each time after twice as long. */
  private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

  /** A device that is gone answers each call with IO, which others do now and then. */
  private static final int MOST_IO_ERRORS = 10;

  private final Device device;
  private final @Nullable DutyCycleInvoker invoker;
  private final long firstPause;
  private final long longestPause;
  private final Map<QueuePair, Runnable> listeners = new ConcurrentHashMap<>();
  private final Thread thread;
  private volatile boolean closed;

  /** Changed by the thread, or by the invoker's: errors since the last call that was good. */
  private int errors;

  private long lastError;
  private long pause;

  /**
   * Takes no events before {@link #start}.
   *
   * @param name of its thread
   * @param invoker invokes its duty cycle in place of a thread, or null
   */
  public AsyncEvents(String name, Device device, @Nullable DutyCycleInvoker invoker) {
    this(name, device, invoker, FIRST_PAUSE, LONGEST_PAUSE);
  }

  /** With other pauses after errors, in nanoseconds. */
  AsyncEvents(
      String name,
      Device device,
      @Nullable DutyCycleInvoker invoker,
      long firstPause,
      long longestPause) {
    this.device = device;
    this.invoker = invoker;
    this.firstPause = firstPause;
    this.longestPause = longestPause;
    // The thread inherits nothing of the thread that opens the transport: it would keep that alive.
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
      boolean pauses = errors > 0 && now() - lastError < pause;
      return !closed && !pauses && takeEvent(0);
    }

    @Override
    public boolean isOver() {
      return closed;
    }
  }

  private void work() {
    while (!closed) {
      takeEvent(LONGEST_WAIT);
      if (errors > 0 && !closed) {
        LockSupport.parkNanos(this, pause);
      }
    }
  }

  private boolean takeEvent(long nanos) {
    try {
      AsyncEvent event = device.awaitAsyncEvent(nanos);
      errors = 0;
      if (event != null && event.source() instanceof QueuePair pair && isFailure(event.type())) {
        Runnable listener = listeners.get(pair);
        if (listener != null) {
          listener.run();
        }
      }
      return event != null;
    } catch (VerbsException e) {
      errors++;
      lastError = now();
      pause = Math.min(longestPause, errors == 1 ? firstPause : 2 * pause);
      // The device has failed: connection events report it, and it raises nothing any more.
      if (isGone(e.error())) {
        closed = true;
      }
      return false;
    } catch (InterruptedException e) {
      // The thread is its own: only a closing of the whole program interrupts it.
      closed = true;
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private long now() {
    return invoker == null ? System.nanoTime() : invoker.nanoTime();
  }

  private boolean isGone(VerbsError error) {
    return switch (error) {
      case CLOSED, NO_DEVICE -> true;
      case IO -> errors >= MOST_IO_ERRORS;
      default -> false;
    };
  }

  /**
   * Returns whether the event is the failure of a queue pair, which its completions may not show.
   */
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

  /**
   * Stops taking events. The thread ends when the device is closed, as that ends its wait for an
   * event.
   */
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }

  /** Waits for the thread, after the device was closed. */
  public void join(long nanos) throws InterruptedException {
    if (thread.isAlive()) {
      TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
    }
  }
}
