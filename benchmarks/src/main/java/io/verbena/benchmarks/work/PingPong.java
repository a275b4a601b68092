// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** A participant that performs round trips of a message between two threads of its choice. */
public interface PingPong extends Participant {
  /**
   * Performs {@code rounds} round trips. One thread calls {@code ping}, another one {@code pong}.
   *
   * @throws Exception if a message fails or {@code deadline} passes
   */
  void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception;
}
