// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import io.verbena.emulated.hca.EmulatedDevice;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.ConnectionManager;
import io.verbena.verbs.provider.OpenCount;
import java.util.ArrayDeque;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A connection manager beside a driver. What the driver of the HCA hears of a connection it notes
 * here; whoever awaits events takes the notes, moves the queue pair on, and tells the event, as
 * librdmacm does it. So no lock of a program's is ever waited for by the driver.
 *
 * <p>Its queues are bounded by what can happen: a few notes and events for each open identifier,
 * and the backlog of each listener.
 */
public abstract class NotingConnectionManager implements ConnectionManager {

  /** What a connection manager owns. */
  public enum Kind {
    LISTENER,
    IDENTIFIER
  }

  /** The most requests that wait for a listener's program. */
  protected static final int MAX_BACKLOG = 1 << 16;

  private final EmulatedDevice device;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);

  /** Held while a note is acted on, so that those of one connection are in order. */
  private final Object steps = new Object();

  private final EventQueue events = new EventQueue();
  private final ArrayDeque<Runnable> notes = new ArrayDeque<>();

  protected NotingConnectionManager(EmulatedDevice device) {
    this.device = device;
  }

  @Override
  public final EmulatedDevice device() {
    return device;
  }

  @Override
  public final @Nullable ConnectionEvent await(long timeoutNanos) throws InterruptedException {
    long deadline = System.nanoTime() + Math.max(0, timeoutNanos);
    while (true) {
      ConnectionEvent event = next();
      if (event != null) {
        if (event.listener() instanceof ManagedListener listener) {
          listener.taken();
        }
        return event;
      }
      synchronized (events) {
        if (!events.isEmpty() || !notes.isEmpty()) {
          continue;
        }
        long left = deadline - System.nanoTime();
        if (open.isClosed() || left <= 0) {
          return null;
        }
        events.wait(left / 1_000_000, (int) (left % 1_000_000));
      }
    }
  }

  private @Nullable ConnectionEvent next() throws InterruptedException {
    if (Thread.interrupted()) {
      throw new InterruptedException();
    }
    synchronized (steps) {
      Runnable note;
      do {
        synchronized (events) {
          ConnectionEvent event = events.poll();
          if (event != null) {
            return event;
          }
          note = notes.poll();
        }
        if (note != null) {
          note.run();
        }
      } while (note != null);
      return null;
    }
  }

  /** For the driver: has something done by whoever awaits events. */
  public final void note(Runnable step) {
    synchronized (events) {
      notes.add(step);
      events.notifyAll();
    }
  }

  /** Has an event told. */
  public final void raise(ConnectionEvent event) {
    synchronized (events) {
      events.add(event);
      events.notifyAll();
    }
  }

  /** Forgets what has not been told yet of an identifier that is closed. */
  public final void forget(ManagedIdentifier identifier) {
    synchronized (events) {
      events.forget(identifier);
    }
  }

  /** Closes the requests to a listener that nobody took. */
  protected final void withdraw(ConnectionListener listener) {
    List<ConnectionIdentifier> requests;
    synchronized (events) {
      requests = events.withdraw(listener);
    }
    for (ConnectionIdentifier request : requests) {
      request.close();
    }
  }

  /** Something of its own was made. */
  public final void opened(Kind kind) {
    open.opened(kind, Integer.MAX_VALUE);
  }

  /** It was closed. */
  public final void closed(Kind kind) {
    open.closed(kind);
  }

  @Override
  public final void close() {
    if (open.close("connection manager")) {
      synchronized (events) {
        events.notifyAll();
      }
      released();
      device.connectionManagerClosed();
    }
  }

  /** Called once, when it is closed: gives back what it has of the HCA. */
  protected abstract void released();
}
