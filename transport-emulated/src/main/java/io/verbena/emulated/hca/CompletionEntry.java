// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;

/**
 * A completion to publish to a completion queue. Each owner of a send or receive queue refills one
 * entry for all its completions, so that nothing is allocated; {@link CompletionRing#publish}
 * copies it. Not thread-safe: only that owner uses it.
 *
 * <p>{@link #ends} begins a completion and clears the previous one; the other methods set further
 * fields in any order.
 */
public final class CompletionEntry {
  private static final long BYTE = 0xff;

  private long id;

  /**
   * Queue pair number, attachment, status, opcode and flags, in the layout of {@link
   * CompletionRing}.
   */
  private long packed;

  private int byteLength;
  private int immediate;
  private int sourceQueuePair;
  private long frees;
  private boolean solicited;

  /**
   * Begins a completion with this outcome.
   *
   * @param bytes the length of the message
   */
  public CompletionEntry ends(CompletionStatus status, CompletionOpcode opcode, int bytes) {
    packed =
        (long) status.code() << CompletionRing.STATUS_SHIFT
            | (long) opcode.code() << CompletionRing.OPCODE_SHIFT;
    byteLength = bytes;
    immediate = 0;
    sourceQueuePair = 0;
    solicited = false;
    return this;
  }

  /**
   * Sets the flags of the message and the value that it carried.
   *
   * @param flags as in {@link io.verbena.verbs.WorkCompletion#flags}
   * @param value the immediate or the invalidated key, if there is one
   */
  public CompletionEntry carries(int flags, int value) {
    packed |= flags;
    immediate = value;
    return this;
  }

  /** Sets the number of the queue pair that sent a datagram; used if the flags have GRH. */
  public CompletionEntry cameFrom(int queuePairNumber) {
    sourceQueuePair = queuePairNumber;
    return this;
  }

  /** Sets whether the sender requested a solicited event; an error always raises one. */
  public CompletionEntry solicits(boolean value) {
    solicited = value;
    return this;
  }

  /** Sets the queue pair of the request, and its attachment number at the completion queue. */
  public CompletionEntry of(int queuePairNumber, int attachment) {
    packed |=
        (long) queuePairNumber << CompletionRing.QPN_SHIFT
            | (long) attachment << CompletionRing.ATTACHMENT_SHIFT;
    return this;
  }

  /**
   * Sets the completed work request.
   *
   * @param workRequestId its id
   * @param position the position in its send or receive queue that the completion frees
   */
  public CompletionEntry completes(long workRequestId, long position) {
    id = workRequestId;
    frees = position;
    return this;
  }

  /** Copies another entry into this one. */
  public void set(CompletionEntry from) {
    id = from.id;
    packed = from.packed;
    byteLength = from.byteLength;
    immediate = from.immediate;
    sourceQueuePair = from.sourceQueuePair;
    frees = from.frees;
    solicited = from.solicited;
  }

  /** Returns whether the completion has this status. */
  public boolean has(CompletionStatus status) {
    return (packed >>> CompletionRing.STATUS_SHIFT & BYTE) == status.code();
  }

  /**
   * Returns whether this completion raises an event on a queue that is armed for solicited ones
   * only.
   */
  public boolean isSolicited() {
    return solicited || !has(CompletionStatus.SUCCESS);
  }

  long id() {
    return id;
  }

  long packed() {
    return packed;
  }

  int byteLength() {
    return byteLength;
  }

  int immediate() {
    return immediate;
  }

  int sourceQueuePair() {
    return sourceQueuePair;
  }

  long frees() {
    return frees;
  }
}
