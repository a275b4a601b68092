// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.verbena.RdmaTransport;
import org.jspecify.annotations.Nullable;

/**
 * The shared transports for programs that pass none: one for all clients and one for all servers,
 * so that a program with both ends has a loop for each. Created at the first use that succeeds, and
 * kept to the end of the JVM. Thread-safe.
 */
final class SharedTransport {
  private static final SharedTransport CLIENTS = new SharedTransport();
  private static final SharedTransport SERVERS = new SharedTransport();

  private @Nullable RdmaTransport transport;

  private SharedTransport() {}

  /** Throws as {@link RdmaTransport#create()}. */
  static RdmaTransport ofClients() {
    return CLIENTS.get();
  }

  /** Throws as {@link RdmaTransport#create()}. */
  static RdmaTransport ofServers() {
    return SERVERS.get();
  }

  private synchronized RdmaTransport get() {
    RdmaTransport made = transport;
    if (made == null) {
      made = RdmaTransport.create();
      transport = made;
    }
    return made;
  }
}
