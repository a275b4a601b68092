// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** A measured implementation. Its constructor opens it; one thread uses and closes it. */
public interface Participant extends AutoCloseable {
  /** Releases everything; afterwards no thread of the participant runs. */
  @Override
  void close();

  /** Returns the CPU nanoseconds that its other processes have used so far; 0 if it has none. */
  default long otherCpuNanos() {
    return 0;
  }
}
