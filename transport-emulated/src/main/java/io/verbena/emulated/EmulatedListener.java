package io.verbena.emulated;

import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.PortSpace;
import java.net.URI;

/** A name that is listened on, and how many requests to it wait to be taken. */
final class EmulatedListener implements ConnectionListener {
  private final EmulatedConnectionManager manager;
  private final PortSpace space;
  private final URI address;
  private final String name;
  private final int backlog;
  private int waiting;
  private boolean closed;

  EmulatedListener(
      EmulatedConnectionManager manager, PortSpace space, URI address, String name, int backlog) {
    this.manager = manager;
    this.space = space;
    this.address = address;
    this.name = name;
    this.backlog = backlog;
  }

  EmulatedConnectionManager manager() {
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
    manager.device().fabric().unlisten(space, name, this);
    for (EmulatedIdentifier request : manager.withdraw(this)) {
      request.close();
    }
    manager.closed(this);
  }
}
