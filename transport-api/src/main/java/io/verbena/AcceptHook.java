// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import reactor.core.publisher.Mono;

/** Decides which connections a server takes, before anything is allocated for them. */
@FunctionalInterface
public interface AcceptHook {

  /**
   * Decides on one connect request. Called on a thread of {@code Schedulers.boundedElastic()}, by
   * several at once; it may block. The first answer counts, on any thread. A hook that throws,
   * answers with an error or not at all, or not within {@link RdmaOptions#connectTimeout}, refuses
   * the connection with {@link RejectReason#HOOK_FAILED}; what it threw is logged, and the client
   * does not see it. After that time the answer is cancelled, and a thread that still blocks is
   * interrupted; earlier only if the HCA reports that the client has gone away, which most HCAs
   * report when the connection is accepted.
   */
  Mono<AcceptDecision> decide(ConnectRequest request);
}
