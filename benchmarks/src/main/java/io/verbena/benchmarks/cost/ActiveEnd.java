// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.IOException;

/** The end that connects, pings, reads and writes. For one thread. */
interface ActiveEnd extends AutoCloseable {

  /** Sends {@code rounds} pings, each after the answer to the one before. */
  void ping(int rounds, RoundTrips times) throws Exception;

  /**
   * Reads the first {@link Job#MESSAGE} bytes of the target into the block that this end writes
   * from, {@code rounds} times, one at a time.
   */
  void read(int rounds, RoundTrips times) throws Exception;

  /** Writes the first {@code length} bytes {@code count} times, and returns when all are done. */
  void write(int count, int length) throws Exception;

  @Override
  void close() throws IOException;
}
