// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.util.concurrent.CompletionStage;

/** Connections that echo messages and are idle otherwise. */
public interface IdleConnections extends Participant {
  /**
   * Opens more connections, one after the other, and echoes a message on each.
   *
   * @throws Exception if one cannot be opened, a message fails or {@code deadline} passes
   */
  void open(int connections, Deadline deadline) throws Exception;

  /**
   * Closes all connections.
   *
   * @throws Exception if one cannot be closed, or {@code deadline} passes
   */
  void shut(Deadline deadline) throws Exception;

  /**
   * Echoes messages on a connection, as many at once as the connection accepts. One call at a time
   * for each connection.
   *
   * @param connection the index of the connection, in the order of opening
   * @return a stage that completes, on any thread, when all messages were echoed
   */
  CompletionStage<Void> echo(int connection, long messages);
}
