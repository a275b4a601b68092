package io.verbena.benchmarks.cost;

import java.net.InetSocketAddress;
import java.net.URI;

/**
 * Where the passive end listens, and where the active one connects from.
 *
 * @param near the active end's address
 * @param far the passive end's address
 * @param port the passive end's port, another one for each connection
 */
record Place(String near, String far, int port) {

  /** For Verbena: of the passive end, or of the active end's way to it. */
  URI uri() {
    return URI.create("disni://" + far + ":" + port + (near.isEmpty() ? "" : "?source=" + near));
  }

  /** For DiSNI, which finds its own way. */
  InetSocketAddress socket() {
    return new InetSocketAddress(far, port);
  }
}
