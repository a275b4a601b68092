// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.hca;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;

/**
 * A completion on its way into a completion queue. Each owner of a queue that completes work
 * requests has one and refills it for each completion, so that nothing is allocated; {@link
 * CompletionRing#publish} copies it. Not thread-safe: it belongs to that owner.
 *
 * <p>{@link #ends} begins a completion and clears the one before; the other methods add to it in
 * any order.
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

  /** Begins a completion with this outcome. */
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
   * Sets what the message carried.
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

  /** Sets whether a solicited event was requested; an error raises one anyway. */
  public CompletionEntry solicits(boolean value) {
    solicited = value;
    return this;
  }

  /** Sets the queue pair that completes, and its attachment number at the completion queue. */
  public CompletionEntry of(int queuePairNumber, int attachment) {
    packed |=
        (long) queuePairNumber << CompletionRing.QPN_SHIFT
            | (long) attachment << CompletionRing.ATTACHMENT_SHIFT;
    return this;
  }

  /**
   * Sets the work request that is complete.
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

  public boolean has(CompletionStatus status) {
    return (packed >>> CompletionRing.STATUS_SHIFT & BYTE) == status.code();
  }

  /** Returns whether it raises an event on a queue that is armed for solicited completions only. */
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
