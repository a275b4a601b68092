package io.verbena.core.cm;

import io.verbena.core.loop.Conductor;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.Device;
import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.net.URI;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The connection manager of a device and the thread that takes its events and hands each to whom it
 * concerns; a {@link Conductor} may give the turns in its place. Thread-safe.
 */
public final class Desk {
  private static final long LONGEST_WAIT = TimeUnit.MINUTES.toNanos(1);

  private final ConnectionManager manager;
  private final IdentityHashMap<ConnectionIdentifier, EventTarget> connections =
      new IdentityHashMap<>();
  private final IdentityHashMap<ConnectionListener, EventTarget> listeners =
      new IdentityHashMap<>();
  private final @Nullable Conductor conductor;
  private final Thread thread;
  private volatile boolean closed;
  private volatile boolean failed;

  /**
   * Opens a desk; {@link #start} starts its thread.
   *
   * @param name of its thread
   * @param conductor who gives it turns in place of a thread, or null
   */
  public Desk(String name, Device device, @Nullable Conductor conductor) {
    manager = device.createConnectionManager();
    this.conductor = conductor;
    thread = new Thread(this::work, name);
    thread.setDaemon(true);
  }

  /** Starts the thread, or lets the conductor begin. */
  public void start() {
    if (conductor == null) {
      thread.start();
    } else {
      conductor.add(new Conducted());
    }
  }

  /** The turns that a conductor gives: each takes an event. */
  private final class Conducted implements Conductor.Turns {
    @Override
    public boolean turn() {
      return !isOver() && takeEvent(0);
    }

    @Override
    public boolean isOver() {
      return closed || failed;
    }
  }

  /** Begins a connect, whose events {@code target} gets. */
  public ConnectionIdentifier resolve(URI address, long timeoutNanos, EventTarget target) {
    synchronized (connections) {
      ConnectionIdentifier identifier = manager.resolve(address, timeoutNanos);
      connections.put(identifier, target);
      return identifier;
    }
  }

  /** Has {@code target} get the events of a connection that somebody else began. */
  public void register(ConnectionIdentifier identifier, EventTarget target) {
    synchronized (connections) {
      connections.put(identifier, target);
    }
  }

  /** Nobody wants the events of this connection any more. */
  public void forget(ConnectionIdentifier identifier) {
    synchronized (connections) {
      connections.remove(identifier);
    }
  }

  /** Listens; {@code target} gets the connect requests. */
  public ConnectionListener listen(URI address, int backlog, EventTarget target) {
    synchronized (listeners) {
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
    while (!closed && !failed) {
      takeEvent(LONGEST_WAIT);
    }
  }

  /** Waits for an event and hands it on; false if none came. */
  private boolean takeEvent(long nanos) {
    try {
      ConnectionEvent event = manager.await(nanos);
      if (event != null) {
        dispatch(event);
      }
      return event != null;
    } catch (InterruptedException e) {
      // The thread is the desk's own; nothing interrupts it but a closing of the whole program.
      closed = true;
      Thread.currentThread().interrupt();
    } catch (VerbsException e) {
      if (!closed) {
        fail(e);
      }
    }
    return false;
  }

  /** There are no events any more: the device has failed. */
  private void fail(VerbsException why) {
    if (why.error() != VerbsError.IO) {
      throw why;
    }
    failed = true;
    List<EventTarget> targets;
    synchronized (listeners) {
      targets = List.copyOf(listeners.values());
    }
    targets.forEach(target -> target.deviceFailed(why));
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
    if (conductor == null) {
      TimeUnit.NANOSECONDS.timedJoin(thread, nanos);
    }
  }
}
