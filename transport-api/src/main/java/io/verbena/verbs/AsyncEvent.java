// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * Something that happened to an object outside any completion: {@code ibv_get_async_event(3)}; IBTA
 * volume 1, section 11.6.3.
 *
 * @param type what happened
 * @param source the {@link QueuePair}, {@link CompletionQueue} or {@link SharedReceiveQueue} that
 *     it happened to; null for an event of the device
 */
public record AsyncEvent(Type type, @Nullable Object source) {

  /** Kinds of event; names as in {@code enum ibv_event_type}. */
  public enum Type {
    /** A completion queue overran and lost completions. */
    CQ_ERR,
    /** A queue pair failed on its own. */
    QP_FATAL,
    /** The responder refused a request as invalid. */
    QP_REQ_ERR,
    /** The responder refused a request by its memory protection. */
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
    /** That port went down: what is outstanding is retried, and then fails. */
    PORT_ERR
  }
}
