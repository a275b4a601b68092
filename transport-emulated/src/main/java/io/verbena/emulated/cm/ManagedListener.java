// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import io.verbena.verbs.ConnectionListener;
import java.net.URI;
import java.util.function.BooleanSupplier;

/**
 * The address of a listener, and the number of requests that the program has not taken yet.
 * Thread-safe.
 */
public abstract class ManagedListener implements ConnectionListener {
  private final URI address;
  private final int backlog;
  private int waiting;
  private boolean closed;

  /** Creates an open listener. */
  protected ManagedListener(URI address, int backlog) {
    this.address = address;
    this.backlog = backlog;
  }

  /** Reserves room for a request; returns false if there is none, or the listener is closed. */
  public final synchronized boolean reserve() {
    if (closed || waiting == backlog) {
      return false;
    }
    waiting++;
    return true;
  }

  /**
   * Creates a request and queues its event, if there is room for one. {@link #close} waits until
   * that is done; so it either finds the request among the untaken ones, or no further request is
   * created.
   *
   * @param request creates the request; returns false if it was withdrawn
   * @return false if there is no room or the listener is closed
   */
  protected final synchronized boolean offer(BooleanSupplier request) {
    if (!reserve()) {
      return false;
    }
    boolean made = false;
    try {
      made = request.getAsBoolean();
    } finally {
      if (!made) {
        waiting--;
      }
    }
    return true;
  }

  /** Notes that the program has taken a request. Called without a lock on events. */
  public final void taken() {
    synchronized (this) {
      waiting--;
    }
    hasRoom();
  }

  /** Called when there is room for another request, without a lock on events. */
  protected void hasRoom() {}

  @Override
  public final URI address() {
    return address;
  }

  @Override
  public final void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    stop();
  }

  /** Called once, when the listener is closed: stops requests from reaching it. */
  protected abstract void stop();
}
