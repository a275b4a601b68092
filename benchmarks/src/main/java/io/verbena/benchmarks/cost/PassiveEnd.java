// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import java.io.IOException;

/** The end that listens, answers, and is written to. For one thread. Listens when created. */
interface PassiveEnd extends AutoCloseable {

  /** Returns the memory to write to. */
  RemoteBlock target();

  /** Waits until the other end is connected. */
  void accept() throws Exception;

  /** Answers {@code rounds} pings. */
  void pong(int rounds) throws Exception;

  @Override
  void close() throws IOException;
}
