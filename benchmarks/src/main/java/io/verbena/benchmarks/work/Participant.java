// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** Something that is measured. Opened by its constructor, used and closed by one thread. */
public interface Participant extends AutoCloseable {
  /** Releases everything; afterwards no thread of the participant runs. */
  @Override
  void close();
}
