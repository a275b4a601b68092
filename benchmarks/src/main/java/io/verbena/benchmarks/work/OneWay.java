// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * A participant that moves messages from one thread to another, in order, with no more in flight
 * than it has bounded room for.
 */
public interface OneWay extends Participant {
  /**
   * Moves {@code messages} messages; returns when the last was checked. One thread calls {@code
   * source}, one other {@code check}.
   *
   * @throws Exception if a message fails or {@code deadline} passes
   */
  void transfer(long messages, MessageSource source, MessageCheck check, Deadline deadline)
      throws Exception;
}
