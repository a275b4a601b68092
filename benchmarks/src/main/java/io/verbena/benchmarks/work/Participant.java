// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** Something that is measured. Opened by its constructor, used and closed by one thread. */
public interface Participant extends AutoCloseable {
  /** Releases everything; afterwards no thread of the participant runs. */
  @Override
  void close();

  /** The nanoseconds of CPU that other processes of it have used so far; 0 without any. */
  default long otherCpuNanos() {
    return 0;
  }
}
