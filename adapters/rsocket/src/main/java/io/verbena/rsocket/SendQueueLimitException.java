// SPDX-License-Identifier: Apache-2.0
package io.verbena.rsocket;

import io.verbena.RdmaException;

/**
 * More was sent than the peer takes: the connection's send queue would have passed its limit, and
 * the connection was closed instead. Ask for less at a time, or raise the limit.
 */
public final class SendQueueLimitException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /** Bytes that waited. */
  private final long depth;

  /** The most that may wait. */
  private final long limit;

  /**
   * @param peer human-readable peer address
   * @param depth bytes that waited, with those of the frame that found no room
   * @param limit the most that may wait
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

  /** Bytes that waited, with those of the frame that found no room. */
  public long depth() {
    return depth;
  }

  /** The most bytes that may wait. */
  public long limit() {
    return limit;
  }
}
