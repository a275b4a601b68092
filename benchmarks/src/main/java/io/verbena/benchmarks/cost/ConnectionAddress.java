// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.net.InetSocketAddress;
import java.net.URI;

/**
 * The addresses of the two ends of a connection.
 *
 * @param scheme the scheme of the device of the end that uses this object
 * @param near the active end's address
 * @param far the passive end's address
 * @param port the passive end's port, a different one for each connection
 */
record ConnectionAddress(String scheme, String near, String far, int port) {
  /** The scheme of the kernel's devices, through DiSNI. */
  static final String RXE = "disni";

  /** The scheme of the kernel's devices, without native code of ours. */
  static final String FOREIGN = "verbs";

  /** The scheme of the emulated HCA on UDP sockets. */
  static final String ROCE = "roce";

  /** Returns Verbena's address: to listen on, or to connect to if {@code near} is not empty. */
  URI uri() {
    return URI.create(
        scheme + "://" + far + ":" + port + (near.isEmpty() ? "" : "?source=" + near));
  }

  /** Returns the passive end's address for DiSNI, which chooses the source address itself. */
  InetSocketAddress socket() {
    return new InetSocketAddress(far, port);
  }
}
