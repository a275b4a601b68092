// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

import org.jspecify.annotations.Nullable;

/**
 * The result of one simulation.
 *
 * @param failure the violation, or another exception; null after a success
 * @param packets the number of packets sent
 * @param injectedFaults the number of faults injected into packets
 */
public record RunResult(@Nullable Throwable failure, int packets, int injectedFaults) {

  /** Returns whether the run ended without a violation. */
  public boolean isSuccess() {
    return failure == null;
  }
}
