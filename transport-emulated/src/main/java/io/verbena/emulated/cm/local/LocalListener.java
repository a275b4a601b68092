// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.local;

import io.verbena.emulated.cm.ManagedListener;
import io.verbena.verbs.ConnectionEvent;
import io.verbena.verbs.ConnectionIdentifier;
import io.verbena.verbs.PortSpace;
import java.net.URI;
import java.nio.ByteBuffer;

/** A listener on a name. */
final class LocalListener extends ManagedListener {
  private final LocalConnectionManager manager;
  private final PortSpace space;
  private final String name;

  LocalListener(
      LocalConnectionManager manager, PortSpace space, URI address, String name, int backlog) {
    super(address, backlog);
    this.manager = manager;
    this.space = space;
    this.name = name;
  }

  LocalConnectionManager manager() {
    return manager;
  }

  /**
   * Passes a request to the program if there is room for one and the active end still waits.
   *
   * @return false if there is no room or the listener is closed
   */
  boolean offer(LocalIdentifier asker, ByteBuffer data) {
    return offer(
        () -> {
          ConnectionEvent request = asker.request(this, data);
          if (request == null) {
            return false;
          }
          manager.raise(request);
          return true;
        });
  }

  @Override
  protected void stop() {
    manager.reachable().unlisten(space, name, this);
    for (ConnectionIdentifier request : manager.withdraw(this)) {
      request.close();
    }
    manager.closed(this);
  }
}
