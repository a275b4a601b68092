// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.work.Spin;

/**
 * One end of a ping-pong, with the same verbs in the same order as perftest's {@code ib_send_lat}:
 * nothing inline; waits for the completion of each SEND. For one thread.
 */
interface Messages {

  /** Sends a message that begins with this number, and polls until the SEND has completed. */
  void send(long number, Spin spin) throws Exception;

  /** Polls until a message arrives, posts its receive again, and returns its number. */
  long receive(Spin spin) throws Exception;

  /** Sends messages, each after the answer to the one before, and records the round trips. */
  static void ping(Messages messages, int rounds, RoundTrips times, Spin spin) throws Exception {
    times.begin();
    for (int i = 0; i < rounds; i++) {
      messages.send(i, spin);
      expect(i, messages.receive(spin));
      times.round();
    }
  }

  /** Answers {@code rounds} messages. */
  static void pong(Messages messages, int rounds, Spin spin) throws Exception {
    for (int i = 0; i < rounds; i++) {
      messages.send(messages.receive(spin), spin);
    }
  }

  /** Throws if a message is not the expected one. */
  static void expect(long number, long came) {
    if (came != number) {
      throw new IllegalStateException("message: " + came + " (expected: " + number + ")");
    }
  }

  /** Throws if a message has an unexpected length. */
  static void checkLength(int length) {
    if (length != Job.MESSAGE) {
      throw new IllegalStateException("length: " + length + " (expected: " + Job.MESSAGE + ")");
    }
  }
}
