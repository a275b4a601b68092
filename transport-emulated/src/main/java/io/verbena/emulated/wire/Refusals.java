// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.wire;

/**
 * Hears that a host takes no packets for an HCA (ICMP's port unreachable), until it is closed. For
 * the driver of the engines.
 */
public interface Refusals extends AutoCloseable {

  /** How often so far; what came since it was asked last counts once. */
  int count();

  @Override
  void close();
}
