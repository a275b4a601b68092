// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import io.verbena.core.loop.CloseSteps;
import io.verbena.core.loop.DutyCycle;
import io.verbena.core.loop.DutyCycleInvoker;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Owns the connection manager of a device, and passes each of its events to the {@link EventTarget}
 * of the connection or listener. Runs on a thread of its own, or is invoked by a {@link
 * DutyCycleInvoker}. Thread-safe.
 */
public final class ConnectionEventDispatcher {
  private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(1);

  /** The longest time from the manager's handing out an event until {@link #hasEvent} is set. */
  private static final long LONGEST_TAKING = TimeUnit.SECONDS.toNanos(1);

  private final ConnectionManager manager;
  private final IdentityHashMap<ConnectionIdentifier, EventTarget> connections =
      new IdentityHashMap<>();
  private final IdentityHashMap<ConnectionListener, EventTarget> listeners =
      new IdentityHashMap<>();
  private final LongSupplier upkeep;
  private final @Nullable DutyCycleInvoker invoker;
  private final Thread thread;
  private final CloseSteps leftOpen = new CloseSteps();
  private volatile boolean closed;

  /** Whether the thread handles an event now. */
  private volatile boolean hasEvent;

  /** The reason why no event will come, or null; written while {@link #listeners} is locked. */
  private volatile @Nullable VerbsException failure;

  /**
   * Creates the connection manager; {@link #start} starts the thread.
   *
   * @param name the name of the thread
   * @param upkeep called by the thread between events, for other seldom work of the device; returns
   *     the nanoseconds until its next call
   * @param invoker invokes the duty cycle in place of a thread, or null; {@code upkeep} is then not
   *     called
   */
  public ConnectionEventDispatcher(
      String name, Device device, LongSupplier upkeep, @Nullable DutyCycleInvoker invoker) {
    manager = device.createConnectionManager();
    this.upkeep = upkeep;
    this.invoker = invoker;
    // Inherits no thread-locals of the thread that opens the transport: it would keep them alive.
    thread = new Thread(null, this::work, name, 0, false);
    thread.setDaemon(true);
    thread.setContextClassLoader(ConnectionEventDispatcher.class.getClassLoader());
  }

  /** Starts the thread, or adds its duty cycle to the invoker. */
  public void start() {
    if (invoker == null) {
      thread.start();
    } else {
      invoker.add(new EventCycle());
    }
  }

  /** The duty cycle that is invoked in place of a thread: takes one event. */
  private final class EventCycle implements DutyCycle {
    @Override
    public boolean doWork() {
      return !isOver() && takeEvent(0);
    }

    @Override
    public boolean isOver() {
      return closed || failure != null;
    }
  }

  /** Begins a connect and passes its events to {@code target}. */
  public ConnectionIdentifier resolve(URI address, long timeoutNanos, EventTarget target) {
    synchronized (connections) {
      ConnectionIdentifier identifier = manager.resolve(address, timeoutNanos);
      try {
        connections.put(identifier, target);
      } catch (Throwable e) {
        // Out of memory: no other object would close the identifier.
        identifier.close();
        throw e;
      }
      return identifier;
    }
  }

  /** Passes the events of a connection that a peer began to {@code target}. */
  public void register(ConnectionIdentifier identifier, EventTarget target) {
    synchronized (connections) {
      connections.put(identifier, target);
    }
  }

  /** Drops further events of this connection. */
  public void forget(ConnectionIdentifier identifier) {
    synchronized (connections) {
      connections.remove(identifier);
    }
  }

  /**
   * Listens and passes connect requests to {@code target}.
   *
   * @throws VerbsException if the address is taken or invalid, or the device has failed
   */
  public ConnectionListener listen(URI address, int backlog, EventTarget target) {
    synchronized (listeners) {
      VerbsException why = failure;
      if (why != null) {
        throw new VerbsException(why.error(), "listen: the device has failed", why);
      }
      ConnectionListener listener = manager.listen(address, backlog);
      listeners.put(listener, target);
      return listener;
    }
  }

  /** Stops listening. */
  public void close(ConnectionListener listener) {
    synchronized (listeners) {
      listeners.remove(listener);
    }
    listener.close();
  }

  private void work() {
    while (!closed && failure == null) {
      takeEvent(Math.min(keepUp(), LONGEST_WAIT));
    }
  }

  private long keepUp() {
    try {
      return upkeep.getAsLong();
    } catch (RuntimeException | Error e) {
      report(e);
      return LONGEST_WAIT;
    }
  }

  /** Waits for an event and dispatches it; returns false if none came. */
  private boolean takeEvent(long nanos) {
    ConnectionEvent event;
    try {
      event = manager.await(nanos);
    } catch (InterruptedException e) {
      // Only the end of the whole program interrupts the dispatcher's own thread.
      closed = true;
      Thread.currentThread().interrupt();
      return false;
    } catch (VerbsException e) {
      if (!closed) {
        fail(e);
      }
      return false;
    }
    if (event == null) {
      return false;
    }
    hasEvent = true;
    try {
      guarded(() -> dispatch(event));
    } finally {
      hasEvent = false;
    }
    return true;
  }

  /**
   * Returns whether no event will come, because the device has failed or its events cannot be
   * taken.
   */
  public boolean hasFailed() {
    return failure != null;
  }

  /** Calls all listeners' targets: no event follows, because the device has failed. */
  private void fail(VerbsException why) {
    List<EventTarget> targets;
    synchronized (listeners) {
      failure = why;
      targets = List.copyOf(listeners.values());
    }
    targets.forEach(target -> guarded(() -> target.deviceFailed(why)));
  }

  private void dispatch(ConnectionEvent event) {
    EventTarget target;
    if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
      synchronized (listeners) {
        target = listeners.get(event.listener());
      }
      if (target == null) {
        // The listener was closed meanwhile.
        reject(event.identifier());
      }
    } else {
      target = target(event.identifier());
    }
    if (target != null) {
      target.event(event);
    }
  }

  /**
   * Rejects a request by closing it; if that fails, it is tried again when the manager is closed.
   */
  private void reject(ConnectionIdentifier request) {
    try {
      request.close();
    } catch (RuntimeException | Error e) {
      leftOpen.add("connect request", request::close);
      throw e;
    }
  }

  /** Runs a step of one connection or listener; its exception does not affect others. */
  private void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error thrown) {
      if (invoker != null) {
        throw thrown;
      }
      report(thrown);
    }
  }

  private void report(Throwable thrown) {
    thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
  }

  private @Nullable EventTarget target(ConnectionIdentifier identifier) {
    synchronized (connections) {
      return connections.get(identifier);
    }
  }

  /**
   * Closes the connection manager, after all its listeners and connections.
   *
   * @param nanos the longest wait for the thread, and before that for an event that it handles,
   *     each in nanoseconds
   * @throws VerbsException {@code BUSY} if listeners or connections are left open
   */
  public void close(long nanos) throws InterruptedException {
    closed = true;
    leftOpen.run();
    try {
      manager.close();
    } catch (VerbsException busy) {
      awaitLastEvent(nanos, busy);
      leftOpen.run();
      manager.close();
    }
    if (invoker == null) {
      TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
    }
  }

  /**
   * Waits for the thread, which ends after its event: it may be closing a request without a
   * listener.
   */
  private void awaitLastEvent(long nanos, VerbsException busy) {
    if (invoker != null) {
      throw busy;
    }
    try {
      TimeUnit.NANOSECONDS.timedJoin(thread, LONGEST_TAKING);
      if (hasEvent) {
        TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw busy;
    }
  }
}
