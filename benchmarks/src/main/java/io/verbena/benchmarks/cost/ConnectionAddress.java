// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.net.InetSocketAddress;
import java.net.URI;

/**
 * The address that the passive end listens on, and the one that the active end connects from.
 *
 * @param scheme of the device of the end that uses it
 * @param near the active end's address
 * @param far the passive end's address
 * @param port the passive end's port, another one for each connection
 */
record ConnectionAddress(String scheme, String near, String far, int port) {
  /** The kernel's devices. */
  static final String RXE = "disni";

  /** The same devices, without native code of ours. */
  static final String FOREIGN = "verbs";

  /** The emulated HCA on UDP sockets. */
  static final String ROCE = "roce";

  /** For Verbena: of the passive end, or of the active end's way to it. */
  URI uri() {
    return URI.create(
        scheme + "://" + far + ":" + port + (near.isEmpty() ? "" : "?source=" + near));
  }

  /** For DiSNI, which finds its own way. */
  InetSocketAddress socket() {
    return new InetSocketAddress(far, port);
  }
}
