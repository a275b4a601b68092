package io.verbena.reactor.cm;

import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.IdentityHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager of a device and the thread that takes its events and hands each to whom it
 * concerns. Thread-safe.
 */
public final class Desk {
  private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(1);

  private final ConnectionManager manager;
  private final IdentityHashMap<ConnectionIdentifier, EventTarget> connections =
      new IdentityHashMap<>();
  private final IdentityHashMap<ConnectionListener, EventTarget> listeners =
      new IdentityHashMap<>();
  private final Thread thread;
  private volatile boolean closed;

  /**
   * Opens a desk; {@link #start} starts its thread.
   *
   * @param name of its thread
   */
  public Desk(String name, Device device) {
    manager = device.createConnectionManager();
    thread = new Thread(this::work, name);
    thread.setDaemon(true);
  }

  /** Starts the thread. */
  public void start() {
    thread.start();
  }

  /** Begins a connect, whose events {@code target} gets. */
  ConnectionIdentifier resolve(URI address, long timeoutNanos, EventTarget target) {
    synchronized (connections) {
      ConnectionIdentifier identifier = manager.resolve(address, timeoutNanos);
      connections.put(identifier, target);
      return identifier;
    }
  }

  /** Has {@code target} get the events of a connection that somebody else began. */
  void register(ConnectionIdentifier identifier, EventTarget target) {
    synchronized (connections) {
      connections.put(identifier, target);
    }
  }

  /** Nobody wants the events of this connection any more. */
  void forget(ConnectionIdentifier identifier) {
    synchronized (connections) {
      connections.remove(identifier);
    }
  }

  /** Listens; {@code target} gets the connect requests. */
  ConnectionListener listen(URI address, int backlog, EventTarget target) {
    synchronized (listeners) {
      ConnectionListener listener = manager.listen(address, backlog);
      listeners.put(listener, target);
      return listener;
    }
  }

  /** Stops listening. */
  void close(ConnectionListener listener) {
    synchronized (listeners) {
      listeners.remove(listener);
    }
    listener.close();
  }

  private void work() {
    try {
      while (!closed) {
        ConnectionEvent event = manager.await(LONGEST_WAIT);
        if (event != null) {
          dispatch(event);
        }
      }
    } catch (InterruptedException e) {
      // The thread is the desk's own; nothing interrupts it but a closing of the whole program.
      Thread.currentThread().interrupt();
    } catch (VerbsException e) {
      if (!closed) {
        throw e;
      }
    }
  }

  private void dispatch(ConnectionEvent event) {
    EventTarget target;
    if (event.type() == ConnectionEvent.Type.CONNECT_REQUEST) {
      synchronized (listeners) {
        target = listeners.get(event.listener());
      }
      if (target == null) {
        // The listener was closed meanwhile; closing the request turns it down.
        event.identifier().close();
      }
    } else {
      target = target(event.identifier());
    }
    if (target != null) {
      target.event(event);
    }
  }

  private @Nullable EventTarget target(ConnectionIdentifier identifier) {
    synchronized (connections) {
      return connections.get(identifier);
    }
  }

  /**
   * Closes it, after all its listeners and connections.
   *
   * @throws VerbsException {@code BUSY} if some are left
   */
  public void close(long nanos) throws InterruptedException {
    closed = true;
    manager.close();
    TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
  }
}
