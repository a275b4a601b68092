// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/**
 * A participant that reads remote memory, laid out and filled as a {@link ReadLayout}, into local
 * memory.
 */
public interface OneSided extends Participant {
  /**
   * Performs {@code operations} reads, each of the next slot of {@code check}, and passes each
   * completed read to {@code check}.
   *
   * @throws Exception if a read fails or {@code deadline} passes
   */
  void read(long operations, ReadCheck check, Deadline deadline) throws Exception;
}
