// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * A message for the shared producers and checks, in any kind of memory. Indexes are bytes from the
 * start of the message, longs are big-endian. A view is a flyweight of one thread.
 */
public interface MessageView {
  /** Reads the long at {@code index}. */
  long getLong(int index);

  /** Writes the long at {@code index}. */
  void putLong(int index, long value);
}
