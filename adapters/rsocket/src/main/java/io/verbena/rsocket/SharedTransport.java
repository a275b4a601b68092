// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.verbena.RdmaTransport;

/**
 * The shared transports for programs that bring none: one of all clients and one of all servers, so
 * that a program with both ends has a loop for each. Made at the first use, and kept to the end of
 * the JVM.
 */
final class SharedTransport {
  private SharedTransport() {}

  static RdmaTransport ofClients() {
    return Clients.TRANSPORT;
  }

  static RdmaTransport ofServers() {
    return Servers.TRANSPORT;
  }

  private static final class Clients {
    static final RdmaTransport TRANSPORT = RdmaTransport.create();
  }

  private static final class Servers {
    static final RdmaTransport TRANSPORT = RdmaTransport.create();
  }
}
