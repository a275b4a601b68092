// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.perf;

/**
 * The bandwidth that an end of perftest has measured, in the order in which it is sent.
 *
 * @param size bytes of a message
 * @param count the number of messages
 * @param peak the best bandwidth between two of them, MiB/s
 * @param average MiB/s
 * @param messageRate millions a second
 */
record PerftestReport(long size, long count, double peak, double average, double messageRate) {
  static final PerftestReport NONE = new PerftestReport(0, 0, 0, 0, 0);
}
