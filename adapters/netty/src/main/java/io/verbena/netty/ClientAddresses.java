// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The addresses of a server's clients, of which each has its own. Thread-safe. */
final class ClientAddresses {
  private final Set<InetSocketAddress> taken = ConcurrentHashMap.newKeySet();

  /**
   * Takes the address of a client. Its port is the one that the client says it has bound, unless
   * another client has that; then the fabric's, or one that no client has.
   *
   * @param from the client's address as the fabric reports it
   * @param said the port that the client says it has bound, or 0
   * @return with port 0 if clients have all ports
   */
  InetSocketAddress take(InetSocketAddress from, int said) {
    InetAddress host = from.getAddress();
    InetSocketAddress bound = new InetSocketAddress(host, said);
    if (said != 0 && taken.add(bound)) {
      return bound;
    }
    if (from.getPort() != 0 && taken.add(from)) {
      return from;
    }
    InetSocketAddress free =
        LocalPorts.takeFree(
            port -> {
              InetSocketAddress address = new InetSocketAddress(host, port);
              return taken.add(address) ? address : null;
            });
    return free == null ? new InetSocketAddress(host, 0) : free;
  }

  /** Gives an address back, whose client is gone. */
  void release(InetSocketAddress address) {
    taken.remove(address);
  }
}
