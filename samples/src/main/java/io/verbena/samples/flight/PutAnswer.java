// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * What a server says of the rows that a client sent.
 *
 * @param rows how many came
 * @param wrong how many of them had a wrong value
 */
record PutAnswer(long rows, long wrong) {
  static final int LENGTH = 2 * Long.BYTES;

  /** Reads what {@link #write} wrote. */
  static PutAnswer read(ArrowBuf from) {
    return new PutAnswer(from.getLong(0), from.getLong(Long.BYTES));
  }

  /** Writes it to a buffer that the caller closes. */
  ArrowBuf write(BufferAllocator memory) {
    ArrowBuf to = memory.buffer(LENGTH);
    to.writeLong(rows);
    to.writeLong(wrong);
    return to;
  }
}
