// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.verbena.benchmarks.work.Spin;

/**
 * One end of a ping-pong, by the same verbs in the same order as perftest's {@code ib_send_lat}:
 * nothing inline, each SEND with a completion, which is waited for. One thread.
 */
interface Messages {

  /** Sends a message that begins with this number, and polls until the SEND is done. */
  void send(long number, Spin spin) throws Exception;

  /** Polls until a message is there, posts its receive again, and returns its number. */
  long receive(Spin spin) throws Exception;

  /** Sends this many, each after the answer to the one before, and notes how long each took. */
  static void ping(Messages messages, int rounds, RoundTrips times, Spin spin) throws Exception {
    times.begin();
    for (int i = 0; i < rounds; i++) {
      messages.send(i, spin);
      expect(i, messages.receive(spin));
      times.round();
    }
  }

  /** Answers this many. */
  static void pong(Messages messages, int rounds, Spin spin) throws Exception {
    for (int i = 0; i < rounds; i++) {
      messages.send(messages.receive(spin), spin);
    }
  }

  /** Fails if it is not the message that must come next. */
  static void expect(long number, long came) {
    if (came != number) {
      throw new IllegalStateException("message: " + came + " (expected: " + number + ")");
    }
  }

  /** Fails if a message has another length. */
  static void checkLength(int length) {
    if (length != Job.MESSAGE) {
      throw new IllegalStateException("length: " + length + " (expected: " + Job.MESSAGE + ")");
    }
  }
}
