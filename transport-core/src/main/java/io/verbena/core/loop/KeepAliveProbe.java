// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.Capability;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;

/**
 * The request that probes whether a peer's HCA answers. It moves no bytes and needs no key, and the
 * peer's program does not see it.
 */
public final class KeepAliveProbe {
  private KeepAliveProbe() {}

  /**
   * Fills in a request that completes once the peer's HCA has answered: a WRITE of 0 bytes, or a
   * READ of 0 bytes where a WRITE completes when it is sent, as on iWARP.
   *
   * @return {@code request}, signaled
   */
  public static SendWorkRequest fill(SendWorkRequest request, QueuePair pair) {
    return (pair.supports(Capability.REQUEST_STATUS) ? request.write(0, 0) : request.read(0, 0))
        .signaled();
  }
}
