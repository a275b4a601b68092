// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

import java.util.concurrent.CompletionStage;

/** Connections within this JVM whose messages come back; they are idle but for those. */
public interface IdleConnections extends Participant {
  /**
   * Opens so many more connections, one after the other, and sends a message to and fro on each.
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
   * Sends messages to and fro on a connection, as many at once as it bears. One call at a time for
   * each connection.
   *
   * @param connection how many were opened before it
   * @return is done when all messages have come back, by whatever thread that happens on
   */
  CompletionStage<Void> echo(int connection, long messages);
}
