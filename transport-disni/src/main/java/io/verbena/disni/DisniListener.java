// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

import io.verbena.disni.address.DisniAddress;
import io.verbena.verbs.ConnectionListener;
import io.verbena.verbs.PortSpace;
import java.net.URI;

/** A listening {@code rdma_cm_id}; the kernel keeps its backlog. */
final class DisniListener implements ConnectionListener {
  private final DisniConnectionManager manager;
  private final PortSpace space;
  private final long pointer;
  private final URI address;
  private final DisniAddress options;
  private boolean closed;

  DisniListener(
      DisniConnectionManager manager,
      PortSpace space,
      long pointer,
      URI address,
      DisniAddress options) {
    this.manager = manager;
    this.space = space;
    this.pointer = pointer;
    this.address = address;
    this.options = options;
  }

  PortSpace space() {
    return space;
  }

  long pointer() {
    return pointer;
  }

  /** Returns the options of the address, which apply to accepted connections. */
  DisniAddress options() {
    return options;
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
