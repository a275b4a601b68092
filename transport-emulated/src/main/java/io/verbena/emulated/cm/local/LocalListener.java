// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.PortSpace;
import java.net.URI;

/** A name that is listened on, and how many requests to it wait to be taken. */
final class LocalListener implements ConnectionListener {
  private final LocalConnectionManager manager;
  private final PortSpace space;
  private final URI address;
  private final String name;
  private final int backlog;
  private int waiting;
  private boolean closed;

  LocalListener(
      LocalConnectionManager manager, PortSpace space, URI address, String name, int backlog) {
    this.manager = manager;
    this.space = space;
    this.address = address;
    this.name = name;
    this.backlog = backlog;
  }

  LocalConnectionManager manager() {
    return manager;
  }

  /** Makes room for a request; false if there is none or the listener is closed. */
  synchronized boolean reserve() {
    if (closed || waiting == backlog || manager.device().isBroken()) {
      return false;
    }
    waiting++;
    return true;
  }

  synchronized void taken() {
    waiting--;
  }

  @Override
  public URI address() {
    return address;
  }

  @Override
  public void close() {
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
    }
    manager.reachable().unlisten(space, name, this);
    for (LocalIdentifier request : manager.withdraw(this)) {
      request.close();
    }
    manager.closed(this);
  }
}
