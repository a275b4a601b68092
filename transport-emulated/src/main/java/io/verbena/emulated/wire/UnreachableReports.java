// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

/**
 * Counts reports that a host takes no packets for an HCA (ICMP's port unreachable), until it is
 * closed. For the driver of the engines.
 */
public interface UnreachableReports extends AutoCloseable {

  /** Returns the number of reports so far; those since the last call count as one. */
  int count();

  @Override
  void close();
}
