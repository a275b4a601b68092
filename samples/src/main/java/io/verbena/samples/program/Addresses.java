// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.program;

import io.verbena.samples.tcp.TcpTransport;
import java.net.InetSocketAddress;
import java.net.URI;
import java.util.Set;

/** Reads and completes the addresses of servers: URIs of a provider, or {@code tcp://host:port}. */
public final class Addresses {
  /** The address at which the two programs of a sample meet by default. */
  public static final String DEFAULT = "roce://127.0.0.1:7471";

  /** The schemes whose names are not host names. */
  private static final Set<String> ON_THIS_MACHINE = Set.of("emulated", "shm");

  private static final int MAX_PORT = 65_535;

  private Addresses() {}

  /** Returns whether an address is of plain TCP. */
  public static boolean isTcp(URI address) {
    return TcpTransport.SCHEME.equals(address.getScheme());
  }

  /** Returns the name of an address's transport in the results. */
  public static String transport(URI address) {
    return isTcp(address) ? "TCP" : "RDMA";
  }

  /**
   * Returns the socket address for frameworks that take one. A name of an emulated HCA, or on
   * shared memory, is not a host name: the address is this machine's.
   */
  public static InetSocketAddress socket(URI address) {
    String host = ON_THIS_MACHINE.contains(address.getScheme()) ? "localhost" : address.getHost();
    return new InetSocketAddress(host, Math.max(0, address.getPort()));
  }

  /** Returns the same address with another port. */
  public static URI withPort(URI address, int port) {
    if (port < 0 || port > MAX_PORT) {
      throw new IllegalArgumentException("port: " + port + " (expected: 0.." + MAX_PORT + ")");
    }
    String query = address.getRawQuery();
    return URI.create(
        address.getScheme()
            + "://"
            + (address.getHost() == null ? address.getRawAuthority() : address.getHost())
            + ":"
            + port
            + (query == null ? "" : "?" + query));
  }
}
