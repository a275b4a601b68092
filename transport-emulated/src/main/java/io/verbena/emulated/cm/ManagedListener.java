// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm;

import io.verbena.verbs.ConnectionListener;
import java.net.URI;
import java.util.function.BooleanSupplier;

/** A listener's address, and the number of its requests that wait to be taken. */
public abstract class ManagedListener implements ConnectionListener {
  private final URI address;
  private final int backlog;
  private int waiting;
  private boolean closed;

  /** Listens from now on. */
  protected ManagedListener(URI address, int backlog) {
    this.address = address;
    this.backlog = backlog;
  }

  /** Makes room for a request; false if there is none or the listener is closed. */
  public final synchronized boolean reserve() {
    if (closed || waiting == backlog) {
      return false;
    }
    waiting++;
    return true;
  }

  /**
   * Makes a request and queues its event, if there is room for one. {@link #close} waits until that
   * is done: it either finds the request among those that nobody took, or no request is made any
   * more.
   *
   * @param request makes the request, and returns false if it was withdrawn
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

  /** Notes that the program took a request. Not called under any lock of events. */
  public final void taken() {
    synchronized (this) {
      waiting--;
    }
    hasRoom();
  }

  /** Called when there is room for another request, not called under any lock of events. */
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

  /** Called once, when it is closed: from then on no request reaches it. */
  protected abstract void stop();
}
