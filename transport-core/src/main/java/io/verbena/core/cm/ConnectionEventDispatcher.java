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
import org.jspecify.annotations.Nullable;

/**
 * Owns the connection manager of a device, takes its events and passes each to the {@link
 * EventTarget} of its connection or listener. A thread of its own does so, or a {@link
 * DutyCycleInvoker} in its place. Thread-safe.
 */
public final class ConnectionEventDispatcher {
  private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(1);

  /** The manager counts the request of an event before the thread knows that it has one. */
  private static final long LONGEST_TAKING = TimeUnit.SECONDS.toNanos(1);

  private final ConnectionManager manager;
  private final IdentityHashMap<ConnectionIdentifier, EventTarget> connections =
      new IdentityHashMap<>();
  private final IdentityHashMap<ConnectionListener, EventTarget> listeners =
      new IdentityHashMap<>();
  private final @Nullable DutyCycleInvoker invoker;
  private final Thread thread;
  private final CloseSteps leftOpen = new CloseSteps();
  private volatile boolean closed;

  /** Whether the thread handles an event. */
  private volatile boolean hasEvent;

  /** The reason why no event will come, or null; written while {@link #listeners} is locked. */
  private volatile @Nullable VerbsException failure;

  /**
   * Creates the connection manager; {@link #start} starts the thread.
   *
   * @param name of its thread
   * @param invoker invokes its duty cycle in place of a thread, or null
   */
  public ConnectionEventDispatcher(String name, Device device, @Nullable DutyCycleInvoker invoker) {
    manager = device.createConnectionManager();
    this.invoker = invoker;
    // The thread inherits nothing of the thread that opens the transport: it would keep that alive.
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

  /** The duty cycle where there is no thread: takes one event. */
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
        // No memory: no other object knows of the identifier.
        identifier.close();
        throw e;
      }
      return identifier;
    }
  }

  /** Passes the events of a connection that somebody else began to {@code target}. */
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
   * @throws VerbsException if the address is taken or none, or no event will come any more
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
      takeEvent(LONGEST_WAIT);
    }
  }

  /** Waits for an event and dispatches it; returns false if none came. */
  private boolean takeEvent(long nanos) {
    ConnectionEvent event;
    try {
      event = manager.await(nanos);
    } catch (InterruptedException e) {
      // The thread is the dispatcher's own: only a closing of the whole program interrupts it.
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

  /** Returns whether no event will come, as the device has failed or its events cannot be taken. */
  public boolean hasFailed() {
    return failure != null;
  }

  /** Tells all listeners that no event follows, because the device reports none any more. */
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

  /** Rejects a request by closing it; one that cannot be is left until the manager is closed. */
  private void reject(ConnectionIdentifier request) {
    try {
      request.close();
    } catch (RuntimeException | Error e) {
      leftOpen.add("connect request", request::close);
      throw e;
    }
  }

  /** Runs a step of one connection or listener, and keeps what it throws from all others. */
  private void guarded(Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error thrown) {
      if (invoker != null) {
        throw thrown;
      }
      thread.getUncaughtExceptionHandler().uncaughtException(thread, thrown);
    }
  }

  private @Nullable EventTarget target(ConnectionIdentifier identifier) {
    synchronized (connections) {
      return connections.get(identifier);
    }
  }

  /**
   * Closes the connection manager, after all its listeners and connections.
   *
   * @param nanos how long to wait for the thread, and before that for an event that it handles
   * @throws VerbsException {@code BUSY} if some are left
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

  /** Waits for the thread, which ends with its event: it may be closing a request of nobody. */
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
