// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.direct;

import io.verbena.verbs.CompletionStatus;

/** The result of one attempt at a send work request. */
enum TransferResult {
  DONE(CompletionStatus.SUCCESS),
  /**
   * A part of the message was moved; later attempts move the rest. Only if an {@link
   * AsyncScheduler} executes the request.
   */
  UNDER_WAY(CompletionStatus.SUCCESS),
  /** The peer has no receive: wait for one. */
  RECEIVER_NOT_READY(CompletionStatus.RNR_RETRY_EXC_ERR),
  /** The peer is not there, or in no state to answer: try again. */
  NO_ANSWER(CompletionStatus.RETRY_EXC_ERR),
  /**
   * A LOCAL_INV of a key that cannot be invalidated, or a READ or atomic of a queue pair that may
   * have none outstanding.
   */
  LOCAL_OPERATION(CompletionStatus.LOC_QP_OP_ERR),
  BIND_REFUSED(CompletionStatus.MW_BIND_ERR),
  LOCAL_LENGTH(CompletionStatus.LOC_LEN_ERR),
  LOCAL_PROTECTION(CompletionStatus.LOC_PROT_ERR),
  /** NAK 0x61. */
  INVALID_REQUEST(CompletionStatus.REM_INV_REQ_ERR),
  /** NAK 0x62. */
  REMOTE_ACCESS(CompletionStatus.REM_ACCESS_ERR),
  /** NAK 0x63. */
  REMOTE_OPERATION(CompletionStatus.REM_OP_ERR);

  /** The status with which the request completes if it ends with this result. */
  final CompletionStatus status;

  TransferResult(CompletionStatus status) {
    this.status = status;
  }

  /** Returns whether the request stays at the head of its queue to be tried again. */
  boolean isStall() {
    return this == RECEIVER_NOT_READY || this == NO_ANSWER;
  }

  /**
   * Returns the result for a requester without acknowledgements, which learns only of its own
   * failures.
   */
  TransferResult unacknowledged() {
    return switch (this) {
      case LOCAL_LENGTH, LOCAL_PROTECTION, UNDER_WAY -> this;
      default -> DONE;
    };
  }

  /** Returns whether the peer refused the request; this stops the peer's queue pair, too. */
  boolean isNak() {
    return this == INVALID_REQUEST || this == REMOTE_ACCESS || this == REMOTE_OPERATION;
  }
}
