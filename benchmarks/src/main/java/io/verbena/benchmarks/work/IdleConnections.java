// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** Connections within this JVM that are idle but for one message each, and one that is used. */
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
   * Sends a message to and fro on the connection that was opened first.
   *
   * @throws Exception if that fails, or {@code deadline} passes
   */
  void echo(Deadline deadline) throws Exception;
}
