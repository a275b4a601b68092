// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.flight;

import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A server's answer about the rows that a client sent.
 *
 * @param rows the number of received rows
 * @param wrong the number of rows with a wrong value
 */
record PutAnswer(long rows, long wrong) {
  static final int LENGTH = 2 * Long.BYTES;

  /** Decodes the output of {@link #write}. */
  static PutAnswer read(ArrowBuf from) {
    return new PutAnswer(from.getLong(0), from.getLong(Long.BYTES));
  }

  /** Encodes the answer into a buffer that the caller closes. */
  ArrowBuf write(BufferAllocator memory) {
    ArrowBuf to = memory.buffer(LENGTH);
    to.writeLong(rows);
    to.writeLong(wrong);
    return to;
  }
}
