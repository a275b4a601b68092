// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.util.concurrent.Future;
import io.verbena.AcceptDecision;
import io.verbena.ConnectRequest;

/**
 * Decides which connect requests a {@link RdmaServerSocketChannel} accepts, before it reads them.
 */
@FunctionalInterface
public interface RdmaAcceptHook {

  /**
   * Decides on one connect request. Called on the event loop of the server channel, and must not
   * block.
   *
   * <p>If the hook throws, its future fails, or the future does not complete within the server
   * channel's {@code CONNECT_TIMEOUT_MILLIS}, the connection is refused with {@link
   * io.verbena.RejectReason#HOOK_FAILED}. The pipeline of the server channel then gets an {@link
   * io.verbena.RdmaConnectException} with the cause as a user event, which is logged unless a
   * handler consumes it. The future is cancelled after that time, and when the channel closes.
   */
  Future<AcceptDecision> decide(ConnectRequest request);
}
