// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

/**
 * Counts reports that a host takes no packets for an HCA (ICMP port unreachable), until it is
 * closed. Called only by the driver of the engines.
 */
public interface UnreachableReports extends AutoCloseable {

  /** Returns the number of reports so far; all reports since the last call count as one. */
  int count();

  @Override
  void close();
}
