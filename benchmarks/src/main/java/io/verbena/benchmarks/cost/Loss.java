// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

/**
 * The rates of writes without and with packet loss, and the switch's counts of the run with loss.
 *
 * @param whole MiB per second without packet loss
 * @param lossy MiB per second with packet loss
 * @param needed the number of packets of the writes
 * @param sent the number of packets that the writer sent
 * @param answers the number of packets that the other end sent
 * @param lost the number of packets that the switch lost, in both directions
 */
record Loss(double whole, double lossy, long needed, long sent, long answers, long lost) {
  /** Returns the share of the bandwidth that remains with loss. */
  double share() {
    return lossy / whole;
  }

  /** Returns the number of retransmitted packets per lost packet. */
  double again() {
    return lost == 0 ? 0 : (double) (sent - needed) / lost;
  }

  /** Returns the number of sent packets per answer. */
  double spacing() {
    return (double) sent / Math.max(1, answers);
  }
}
