// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * A participant that moves messages from one thread to another, in order, with a bounded number in
 * flight.
 */
public interface OneWay extends Participant {
  /**
   * Moves {@code messages} messages and returns when the last one was checked. One thread calls
   * {@code source}, another one {@code check}.
   *
   * @throws Exception if a message fails or {@code deadline} passes
   */
  void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception;
}
