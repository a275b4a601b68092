// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import org.jspecify.annotations.Nullable;

/** A work request that was posted, with the results that the model expects. */
final class PostedRequest {
  enum State {
    POSTED,
    DONE,
    FAILED
  }

  /** Its index among the requests of the endpoint. */
  final int number;

  final Operation operation;
  final boolean signaled;
  final long postedAt;
  long doneAt;
  State state = State.POSTED;

  /** Whether the peer is known to have executed it. */
  boolean executed;

  /** Of a READ: the bytes that it must return. */
  byte @Nullable [] expectedBytes;

  /** Of a READ or atomic: the offset of its result in the arena. */
  int resultAt;

  /** Of a request that consumes a receive: its index among such requests of the endpoint. */
  int message;

  /** Of a fetch-and-add: its digit of the counter. */
  int digit;

  /** Of a compare-and-swap: the values before and after it. */
  long before;

  long after;

  /** The key that the request uses, grants or revokes. */
  @Nullable KeyLifetime key;

  /** Of a bind of a type 1 window: the key that the bind revokes. */
  @Nullable KeyLifetime previousKey;

  /** Of a request on an unreliable transport: the PSN of its last packet. */
  int lastPsn = -1;

  /** The number of times that the message was received. */
  int deliveries;

  PostedRequest(int number, Operation operation, boolean signaled, long postedAt) {
    this.number = number;
    this.postedAt = postedAt;
    this.operation = operation;
    this.signaled = signaled;
  }

  boolean isCompleted() {
    return state != State.POSTED;
  }

  /** Returns whether the responder must or may reject the request. */
  boolean mayBeRejected() {
    if (operation.kind().breaksConnection()) {
      return true;
    }
    KeyLifetime used = key;
    return used != null && operation.kind().isAccess() && !executed && used.isRevoking();
  }

  @Override
  public String toString() {
    KeyLifetime used = key;
    return operation + (used == null ? "" : ", key " + used) + " (" + state + ")";
  }
}
