// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.Capability;
import io.verbena.verbs.QueuePair;
import io.verbena.verbs.SendWorkRequest;

/**
 * The request that shows whether a peer's HCA is there: it moves no bytes, needs no key, and its
 * program does not see it.
 */
public final class KeepAliveProbe {
  private KeepAliveProbe() {}

  /**
   * Makes a request one of no bytes that completes when the peer's HCA has answered: a WRITE, or a
   * READ where a WRITE completes when it is sent, as with iWARP.
   *
   * @return {@code request}, signaled
   */
  public static SendWorkRequest fill(SendWorkRequest request, QueuePair pair) {
    return (pair.supports(Capability.REQUEST_STATUS) ? request.write(0, 0) : request.read(0, 0))
        .signaled();
  }
}
