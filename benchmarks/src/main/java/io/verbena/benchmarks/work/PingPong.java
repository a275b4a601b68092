// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** A participant that sends a message to and fro between two threads of its own choice. */
public interface PingPong extends Participant {
  /**
   * Performs {@code rounds} round trips. One thread calls {@code ping}, one other {@code pong}.
   *
   * @throws Exception if a message fails or {@code deadline} passes
   */
  void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception;
}
