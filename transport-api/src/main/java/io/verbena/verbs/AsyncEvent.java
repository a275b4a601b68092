// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * An event of an object that no completion reports ({@code ibv_get_async_event(3)}; IBTA volume 1,
 * section 11.6.3).
 *
 * @param type the kind of event
 * @param source the {@link QueuePair}, {@link CompletionQueue} or {@link SharedReceiveQueue}
 *     concerned; null for an event of the device
 */
public record AsyncEvent(Type type, @Nullable Object source) {

  /** Kinds of event; names as in {@code enum ibv_event_type}. */
  public enum Type {
    /** A completion queue overran and lost completions. */
    CQ_ERR,
    /** A queue pair failed, and went into the error state. */
    QP_FATAL,
    /** The responder refused a request as invalid. */
    QP_REQ_ERR,
    /** The responder's memory protection refused a request. */
    QP_ACCESS_ERR,
    /** A message arrived on a connection in RTR, before RTS. */
    COMM_EST,
    /** The send queue is drained, in SQD. */
    SQ_DRAINED,
    /** The shared receive queue fell below its limit. */
    SRQ_LIMIT_REACHED,
    /** A queue pair on a shared receive queue took its last receive. */
    QP_LAST_WQE_REACHED,
    /** The device is gone. */
    DEVICE_FATAL,
    /** A shared receive queue failed: its receives are lost. */
    SRQ_ERR,
    /** The port that the device was opened on came up. */
    PORT_ACTIVE,
    /** That port went down: outstanding requests are retried, and then fail. */
    PORT_ERR
  }
}
