// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** Idle connections, one of which is used. */
public interface Crowd extends IdleConnections {
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
