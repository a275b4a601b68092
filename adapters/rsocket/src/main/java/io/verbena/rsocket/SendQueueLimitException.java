// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.verbena.RdmaException;

/**
 * Thrown if this end sends faster than the peer reads, so that the send queue of the connection
 * would exceed its limit. The connection is closed. Request less at a time, or raise the limit.
 */
public final class SendQueueLimitException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** The bytes that would have been queued. */
  private final long depth;

  /** The most bytes that may be queued. */
  private final long limit;

  /**
   * @param peer human-readable peer address
   * @param depth the bytes that would have been queued, with the frame that found no room
   * @param limit the most bytes that may be queued
   */
  SendQueueLimitException(String peer, long depth, long limit) {
    super(
        "send",
        peer,
        "bytes that wait for the peer's credits: "
            + depth
            + " (expected: <= "
            + limit
            + ", sendQueueLimit of the transport); the peer reads slower than this end sends");
    this.depth = depth;
    this.limit = limit;
  }

  /** Returns the bytes that would have been queued, with the frame that found no room. */
  public long depth() {
    return depth;
  }

  /** Returns the most bytes that may be queued. */
  public long limit() {
    return limit;
  }
}
