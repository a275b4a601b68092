// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.verbena.benchmarks.work.ByteArrayView;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;

/**
 * One end's part in the calls that follow each other: a message is the line's number, and then what
 * the workload writes. gRPC keeps no order between the calls that are outstanding at once, so each
 * of them is on a line of its own. One thread.
 */
final class Line {
  private static final int HEAD = Long.BYTES;

  private final MessageSource source;
  private final MessageCheck check;
  private final byte[] outgoing;
  private final ByteArrayView out = new ByteArrayView(HEAD);
  private final ByteArrayView in = new ByteArrayView(HEAD);

  /** A line whose messages are {@code size} bytes long with their head. */
  Line(int number, int size) {
    source = new MessageSource(size - HEAD);
    check = new MessageCheck(size - HEAD);
    outgoing = new byte[size];
    new ByteArrayView(0).wrap(outgoing).putLong(0, number);
    source.prepare(out.wrap(outgoing));
  }

  /** The line that a message is on. */
  static int of(byte[] message) {
    return (int) new ByteArrayView(0).wrap(message).getLong(0);
  }

  /** The next message; in the same array as the last, which gRPC has taken by now. */
  byte[] next() {
    source.next(out);
    return outgoing;
  }

  /** Checks the next message of the other end. */
  void accept(byte[] message) {
    check.accept(in.wrap(message), message.length - HEAD);
  }
}
