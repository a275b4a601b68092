// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

/**
 * The same writes twice, and the switch's counts of the second time.
 *
 * @param whole MiB per second where nothing is lost
 * @param lossy MiB per second where packets are
 * @param needed packets that the writes are
 * @param sent packets of the writer
 * @param answers packets of the other end
 * @param lost packets that the switch lost, either way
 */
record Loss(double whole, double lossy, long needed, long sent, long answers, long lost) {
  /** The share of the bandwidth that is left. */
  double share() {
    return lossy / whole;
  }

  /** Packets that were sent again for one that was lost. */
  double again() {
    return lost == 0 ? 0 : (double) (sent - needed) / lost;
  }

  /** Packets for which there is one answer. */
  double spacing() {
    return (double) sent / Math.max(1, answers);
  }
}
