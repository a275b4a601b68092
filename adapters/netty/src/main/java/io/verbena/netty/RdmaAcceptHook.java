// SPDX-License-Identifier: Apache-2.0
package io.verbena.netty;

import io.netty.util.concurrent.Future;
import io.verbena.AcceptDecision;
import io.verbena.ConnectRequest;

/** Decides which connections a {@link RdmaServerSocketChannel} takes, before it reads them. */
@FunctionalInterface
public interface RdmaAcceptHook {

  /**
   * Decides on one connect request. Called on the event loop of the server channel, which it must
   * not block, as any handler. A hook that throws, whose future fails, or does not answer within
   * the server channel's {@code CONNECT_TIMEOUT_MILLIS}, refuses the connection with {@link
   * io.verbena.RejectReason#HOOK_FAILED}. The pipeline of the server channel gets an {@link
   * io.verbena.RdmaConnectException} with the cause as a user event, which is logged unless a
   * handler keeps it. After that time, or if the channel closes, the future is cancelled.
   */
  Future<AcceptDecision> decide(ConnectRequest request);
}
