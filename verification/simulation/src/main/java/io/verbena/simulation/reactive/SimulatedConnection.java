// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.reactive;

import java.util.List;

/**
 * The two ends of a connection, with the failures that are allowed.
 *
 * @param oracle decides whether a failure of this connection is allowed
 * @param server the end with the index 0
 * @param client the end with the index 1
 */
record SimulatedConnection(FailureOracle oracle, ConnectionEnd server, ConnectionEnd client) {

  /** Returns the end with an index. */
  ConnectionEnd end(int index) {
    return index == 0 ? server : client;
  }

  List<ConnectionEnd> ends() {
    return List.of(server, client);
  }
}
