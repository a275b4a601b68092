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
 * A connection manager of an HCA with a driver. The driver adds a note for each step of a
 * connection. The thread that awaits events runs the notes, which change the queue pair's state and
 * raise events, as librdmacm does. So the driver never waits for a lock that the program holds.
 *
 * <p>The queues are bounded: they hold a few notes and events for each open identifier, and the
 * backlog of each listener.
 */
public abstract class DrivenConnectionManager implements ConnectionManager {

  /** The kinds of objects that a connection manager owns. */
  public enum Kind {
    LISTENER,
    IDENTIFIER
  }

  /** The largest backlog of a listener. */
  protected static final int MAX_BACKLOG = 1 << 16;

  private final EmulatedDevice device;
  private final OpenCount<Kind> open = new OpenCount<>(Kind.class);

  /** Held while a note runs, so that the notes of one connection run in order. */
  private final Object steps = new Object();

  private final EventQueue events = new EventQueue();
  private final ArrayDeque<Runnable> notes = new ArrayDeque<>();

  protected DrivenConnectionManager(EmulatedDevice device) {
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

  /** Adds a note: a step that the thread that awaits events will run. Called by the driver. */
  public final void note(Runnable step) {
    synchronized (events) {
      notes.add(step);
      events.notifyAll();
    }
  }

  /** Adds an event for the program. */
  public final void raise(ConnectionEvent event) {
    synchronized (events) {
      events.add(event);
      events.notifyAll();
    }
  }

  /** Drops the events of a closed identifier that the program has not taken. */
  public final void forget(ManagedIdentifier identifier) {
    synchronized (events) {
      events.forget(identifier);
    }
  }

  /** Closes the requests to a listener that the program has not taken. */
  protected final void withdraw(ConnectionListener listener) {
    List<ConnectionIdentifier> requests;
    synchronized (events) {
      requests = events.withdraw(listener);
    }
    for (ConnectionIdentifier request : requests) {
      request.close();
    }
  }

  /** Counts an object that this manager now owns. */
  public final void opened(Kind kind) {
    open.opened(kind, Integer.MAX_VALUE);
  }

  /** Counts an object that was closed. */
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

  /** Called once, when the manager is closed: releases the HCA's resources that it holds. */
  protected abstract void released();
}
