// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.grpc;

import io.verbena.benchmarks.work.ByteArrayView;
import io.verbena.benchmarks.work.MessageCheck;
import io.verbena.benchmarks.work.MessageSource;

/**
 * One end of a sequence of calls, of which one is outstanding at a time. A message is the line's
 * number and then the workload's content. gRPC does not order outstanding calls, so each of them
 * has a line of its own. For one thread.
 */
final class Line {
  private static final int HEAD = Long.BYTES;

  private final MessageSource source;
  private final MessageCheck check;
  private final byte[] outgoing;
  private final ByteArrayView out = new ByteArrayView(HEAD);
  private final ByteArrayView in = new ByteArrayView(HEAD);

  /** Creates a line whose messages have {@code size} bytes, including the line's number. */
  Line(int number, int size) {
    source = new MessageSource(size - HEAD);
    check = new MessageCheck(size - HEAD);
    outgoing = new byte[size];
    new ByteArrayView(0).wrap(outgoing).putLong(0, number);
    source.prepare(out.wrap(outgoing));
  }

  /** Returns the number of the line of a message. */
  static int of(byte[] message) {
    return (int) new ByteArrayView(0).wrap(message).getLong(0);
  }

  /** Returns the next message. Reuses the array of the last one, which gRPC has copied by now. */
  byte[] next() {
    source.next(out);
    return outgoing;
  }

  /** Checks the next message of the other end. */
  void accept(byte[] message) {
    check.accept(in.wrap(message), message.length - HEAD);
  }
}
