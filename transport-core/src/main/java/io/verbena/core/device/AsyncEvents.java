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
 * Takes the asynchronous events of a device, and calls the listener of each queue pair that has
 * failed. Queue pairs on a shared receive queue need this: if one fails while it has no sends, no
 * completion shows the failure. Runs on a thread of its own, or is invoked by a {@link
 * DutyCycleInvoker}. Thread-safe.
 */
public final class AsyncEvents {
  private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(1);

  /** The pause after an error; it doubles with each further error. */
  private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(1);

  private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(1);

  /**
   * The IO errors in a row after which the device counts as gone; other devices return IO only at
   * times.
   */
  private static final int MOST_IO_ERRORS = 10;

  private final Device device;
  private final @Nullable DutyCycleInvoker invoker;
  private final long firstPause;
  private final long longestPause;
  private final Map<QueuePair, Runnable> listeners = new ConcurrentHashMap<>();
  private final Thread thread;
  private volatile boolean closed;

  /** The errors since the last successful call. Only the thread, or the invoker's, changes it. */
  private int errors;

  private long lastError;
  private long pause;

  /**
   * Takes no events before {@link #start}.
   *
   * @param name the name of the thread
   * @param invoker invokes the duty cycle in place of a thread, or null
   */
  public AsyncEvents(String name, Device device, @Nullable DutyCycleInvoker invoker) {
    this(name, device, invoker, FIRST_PAUSE, LONGEST_PAUSE);
  }

  /** Has other pauses after errors, in nanoseconds. */
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
    // Inherits no thread-locals of the thread that opens the transport: it would keep them alive.
    thread = new Thread(null, this::work, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(AsyncEvents.class.getClassLoader());
  }

  /**
   * Sets the listener of a queue pair: {@code onFailure} runs on this object's thread when the
   * queue pair has failed, and must not throw.
   */
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
      // A device that is gone raises no more events; connection events report the failure.
      if (isGone(e.error())) {
        closed = true;
      }
      return false;
    } catch (InterruptedException e) {
      // Only the end of the whole program interrupts this object's own thread.
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
   * Returns whether the event reports the failure of a queue pair, which completions may not show.
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
   * Stops taking events. The thread ends when the device is closed, which ends its wait for an
   * event.
   */
  public void close() {
    closed = true;
    LockSupport.unpark(thread);
  }

  /** Waits up to {@code nanos} for the thread to end, after the device was closed. */
  public void join(long nanos) throws InterruptedException {
    if (thread.isAlive()) {
      TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
    }
  }
}
