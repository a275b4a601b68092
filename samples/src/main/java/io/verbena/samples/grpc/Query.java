// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * A request for quotes.
 *
 * @param symbol the share
 * @param from the number of the first quote
 * @param count the number of quotes
 */
record Query(String symbol, long from, long count) {

  void write(DataOutput out) throws IOException {
    out.writeUTF(symbol);
    out.writeLong(from);
    out.writeLong(count);
  }

  static Query read(DataInput in) throws IOException {
    return new Query(in.readUTF(), in.readLong(), in.readLong());
  }
}
