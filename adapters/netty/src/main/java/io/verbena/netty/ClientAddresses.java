// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The addresses of a server's clients, no two of which are equal. Thread-safe. */
final class ClientAddresses {
  private final Set<InetSocketAddress> taken = ConcurrentHashMap.newKeySet();

  /**
   * Takes an address for a client. Its port is the one that the client has bound, unless another
   * client has that; then the one that the fabric reports; else one that no client has.
   *
   * @param from the client's address as the fabric reports it
   * @param boundPort the port that the client's handshake says is bound, or 0
   * @return the address; with port 0 if no port is free
   */
  InetSocketAddress take(InetSocketAddress from, int boundPort) {
    InetAddress host = from.getAddress();
    InetSocketAddress bound = new InetSocketAddress(host, boundPort);
    if (boundPort != 0 && taken.add(bound)) {
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

  /** Releases the address of a client that is gone. */
  void release(InetSocketAddress address) {
    taken.remove(address);
  }
}
