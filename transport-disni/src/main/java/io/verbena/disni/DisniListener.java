// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.PortSpace;
import java.net.URI;

/** An address that is listened on; the kernel keeps its backlog. */
final class DisniListener implements ConnectionListener {
  private final DisniConnectionManager manager;
  private final PortSpace space;
  private final long pointer;
  private final URI address;
  private boolean closed;

  DisniListener(DisniConnectionManager manager, PortSpace space, long pointer, URI address) {
    this.manager = manager;
    this.space = space;
    this.pointer = pointer;
    this.address = address;
  }

  PortSpace space() {
    return space;
  }

  long pointer() {
    return pointer;
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
    manager.closed(this);
  }
}
