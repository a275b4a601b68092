// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * A price that is offered for a share.
 *
 * @param symbol the share
 * @param number the number of the quote of this share, from 0
 * @param cents the price
 */
record Quote(String symbol, long number, long cents) {
  private static final long LEAST = 10_000;
  private static final long STEP = 7_919;
  private static final long SPREAD = 997;

  /** Returns the quote of this number, which is always the same, so that clients can check it. */
  static Quote of(String symbol, long number) {
    long cents = LEAST + Math.floorMod(symbol.hashCode() + number * STEP, SPREAD);
    return new Quote(symbol, number, cents);
  }

  void write(DataOutput out) throws IOException {
    out.writeUTF(symbol);
    out.writeLong(number);
    out.writeLong(cents);
  }

  static Quote read(DataInput in) throws IOException {
    return new Quote(in.readUTF(), in.readLong(), in.readLong());
  }
}
