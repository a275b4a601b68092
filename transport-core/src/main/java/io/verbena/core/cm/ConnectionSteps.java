// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.cm;

import io.verbena.verbs.ConnectionEvent;

/**
 * The steps of a connect or an accept: calls a method for each event of the connection's identifier
 * that makes a difference to either. Events between two steps are ignored. Called by one thread at
 * a time.
 */
public abstract class ConnectionSteps {

  /** Handles an event of the identifier. */
  protected final void step(ConnectionEvent event) {
    switch (event.type()) {
      case ADDR_RESOLVED -> resolved(event);
      case ESTABLISHED -> established(event);
      case REJECTED -> rejected(event);
      case ADDR_ERROR, ROUTE_ERROR, UNREACHABLE, CONNECT_ERROR -> failed(event);
      case DISCONNECTED -> disconnected(event);
      case DEVICE_REMOVAL -> deviceRemoved(event);
      case ROUTE_RESOLVED, CONNECT_REQUEST, CONNECT_RESPONSE, ADDR_CHANGE, TIMEWAIT_EXIT -> {
        // A step in between, or of the other end.
      }
    }
  }

  /** The peer's address is resolved, of a connect. */
  protected void resolved(ConnectionEvent event) {}

  /** The connection is established. */
  protected abstract void established(ConnectionEvent event);

  /** The peer rejects the connection. */
  protected abstract void rejected(ConnectionEvent event);

  /** No address, no route, no answer, or an error of the connection manager. */
  protected abstract void failed(ConnectionEvent event);

  /** The peer has disconnected, maybe before the connection was established. */
  protected abstract void disconnected(ConnectionEvent event);

  /** The device is gone. */
  protected abstract void deviceRemoved(ConnectionEvent event);
}
