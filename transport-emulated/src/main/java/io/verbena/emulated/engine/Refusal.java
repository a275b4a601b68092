// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.engine;

import io.verbena.emulated.roce.Aeth;
import io.verbena.verbs.AsyncEvent;
import io.verbena.verbs.CompletionStatus;

/**
 * Reasons why a responder refuses a packet, and the consequences on a reliable connection: the NAK
 * to the peer; and locally the status of the receive that the message had taken, or an event if it
 * had taken none. After all but the first three, the queue pair goes to ERR.
 */
enum Refusal {
  /** There is no refusal. */
  NONE(Refusal.NO_NAK, CompletionStatus.SUCCESS, AsyncEvent.Type.QP_REQ_ERR),
  /** No receive is posted; the peer has to try again later. */
  NOT_READY(Refusal.NO_NAK, CompletionStatus.SUCCESS, AsyncEvent.Type.QP_REQ_ERR),
  /**
   * The peer has withdrawn the payload that the packet refers to, so the packet counts as not sent.
   */
  WITHDRAWN(Refusal.NO_NAK, CompletionStatus.SUCCESS, AsyncEvent.Type.QP_REQ_ERR),
  /**
   * The packet is out of sequence, not allowed by the queue pair or misaligned, or its lengths
   * contradict each other.
   */
  INVALID(Aeth.INVALID_REQUEST, CompletionStatus.REM_INV_REQ_ERR, AsyncEvent.Type.QP_REQ_ERR),
  /** A SEND is larger than its receive. */
  TOO_LONG(Aeth.INVALID_REQUEST, CompletionStatus.LOC_LEN_ERR, AsyncEvent.Type.QP_REQ_ERR),
  /** The rkey does not cover the access. */
  REMOTE_MEMORY(
      Aeth.REMOTE_ACCESS_ERROR, CompletionStatus.REM_ACCESS_ERR, AsyncEvent.Type.QP_ACCESS_ERR),
  /** The rkey covers the access, but the memory is gone. */
  REMOTE_MEMORY_GONE(
      Aeth.REMOTE_OPERATION_ERROR, CompletionStatus.REM_OP_ERR, AsyncEvent.Type.QP_FATAL),
  /** The receive names memory that its key does not cover. */
  RECEIVE_MEMORY(
      Aeth.REMOTE_OPERATION_ERROR, CompletionStatus.LOC_PROT_ERR, AsyncEvent.Type.QP_FATAL),
  /**
   * A SEND names a key that cannot be invalidated. The message itself has arrived and is
   * acknowledged (a class J error of the responder).
   */
  INVALIDATION(Refusal.NO_NAK, CompletionStatus.REM_INV_REQ_ERR, AsyncEvent.Type.QP_REQ_ERR);

  /** The {@link #syndrome} of a refusal without a NAK. */
  static final int NO_NAK = 0;

  final int syndrome;
  final CompletionStatus status;
  final AsyncEvent.Type event;

  Refusal(int syndrome, CompletionStatus status, AsyncEvent.Type event) {
    this.syndrome = syndrome;
    this.status = status;
    this.event = event;
  }

  /** Returns the refusal for the result of an access by an rkey. */
  static Refusal ofRemote(AccessResult outcome) {
    return switch (outcome) {
      case GRANTED -> NONE;
      case REFUSED -> REMOTE_MEMORY;
      case FAILED -> REMOTE_MEMORY_GONE;
    };
  }
}
