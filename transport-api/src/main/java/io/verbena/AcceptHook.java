// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import reactor.core.publisher.Mono;

/** Decides which connections a server accepts, before anything is allocated for them. */
@FunctionalInterface
public interface AcceptHook {

  /**
   * Decides on one connect request. Called on threads of {@code Schedulers.boundedElastic()}, for
   * several requests at once; may block. The first value counts, and may come on any thread. The
   * connection is refused with {@link RejectReason#HOOK_FAILED} if the hook throws, errors,
   * completes empty, or does not answer within {@link RdmaOptions#connectTimeout}. The error is
   * logged and not sent to the client. After that time the {@code Mono} is cancelled, and a thread
   * that still blocks is interrupted. That happens earlier only if the HCA reports that the client
   * is gone; most HCAs report it only when the connection is accepted. When the device is removed
   * or the transport is disposed of, the {@code Mono} is cancelled, too, but a thread that blocks
   * need not be interrupted.
   */
  Mono<AcceptDecision> decide(ConnectRequest request);
}
