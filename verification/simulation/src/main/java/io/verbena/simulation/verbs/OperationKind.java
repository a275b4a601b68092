// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;

/** The kinds of operations of a simulated program. */
enum OperationKind {
  SEND(true),
  SEND_IMMEDIATE(true),
  WRITE(false),
  WRITE_IMMEDIATE(true),
  READ(false),
  FETCH_ADD(false),
  COMPARE_SWAP(false),
  /**
   * A READ of the first register and of the cell behind it. It must return the value of the cell
   * after all earlier compare-and-swaps and before all later ones.
   */
  READ_CELL(false),
  /** A WRITE with an unknown key. */
  WRONG_KEY(false, CompletionStatus.REM_ACCESS_ERR),
  /** A READ whose last byte is beyond the region. */
  READ_BEYOND_REGION(false, CompletionStatus.REM_ACCESS_ERR),
  /** A fetch-and-add at an address that is not a multiple of 8. */
  MISALIGNED(false, CompletionStatus.REM_INV_REQ_ERR),
  /** A SEND larger than the receive. */
  TOO_LARGE(true, CompletionStatus.REM_INV_REQ_ERR),
  /** A WRITE with a key that was revoked or does not permit it. */
  REVOKED_KEY(false, CompletionStatus.REM_ACCESS_ERR),
  /** A WRITE with the key of a type 2 window that another queue pair has bound. */
  FOREIGN_WINDOW_KEY(false, CompletionStatus.REM_ACCESS_ERR),
  /** A fetch-and-add with a former key of a type 1 window. */
  REVOKED_TYPE_1_KEY(false, CompletionStatus.REM_ACCESS_ERR),
  /** A READ whose last byte is beyond a window, but within its region. */
  READ_BEYOND_WINDOW(false, CompletionStatus.REM_ACCESS_ERR),
  /** A SEND_WITH_INV with an unknown key. The message arrives, and the responder fails. */
  INVALIDATE_UNKNOWN_KEY(true),
  /** A datagram with a queue key that differs from its receiver's. */
  WRONG_QUEUE_KEY(true, CompletionStatus.REM_INV_REQ_ERR),
  /** Grants a key: binds a type 2 window, or registers the memory once more. */
  GRANT_KEY(false),
  /** LOCAL_INV of a granted key. */
  LOCAL_INVALIDATE(false),
  /** SEND_WITH_INV of a key that the peer granted, or a SEND if there is none. */
  SEND_WITH_INVALIDATE(true),
  /** Deregisters the region or deallocates the window of a grant. */
  DEALLOCATE(false),
  /** Binds the type 1 window of the device to a new key. */
  BIND_TYPE_1_WINDOW(false),
  /**
   * Reregisters the region of a grant with other rights, in another domain, or over other memory.
   */
  REREGISTER(false),
  /** Drains the send queue and resumes it later. */
  DRAIN(false),
  /** Moves the queue pair to ERR. */
  FAIL(false),
  /** Closes the queue pair. */
  CLOSE(false);

  private final boolean takesReceive;

  /** The completion status at the requester: an error if the responder must reject the request. */
  private final CompletionStatus expectedStatus;

  OperationKind(boolean takesReceive) {
    this(takesReceive, CompletionStatus.SUCCESS);
  }

  OperationKind(boolean takesReceive, CompletionStatus expectedStatus) {
    this.takesReceive = takesReceive;
    this.expectedStatus = expectedStatus;
  }

  boolean takesReceive() {
    return takesReceive;
  }

  CompletionStatus expectedStatus() {
    return expectedStatus;
  }

  /** Returns whether the operation breaks a reliable connection. */
  boolean breaksConnection() {
    return isRejected() || this == INVALIDATE_UNKNOWN_KEY;
  }

  /** Returns whether the operation accesses memory of the peer. */
  boolean isAccess() {
    return switch (this) {
      case WRITE, WRITE_IMMEDIATE, READ, READ_CELL, FETCH_ADD, COMPARE_SWAP -> true;
      default -> false;
    };
  }

  /** Returns the opcode of its completion. */
  CompletionOpcode opcode() {
    return switch (this) {
      case WRITE, WRITE_IMMEDIATE, WRONG_KEY, REVOKED_KEY, FOREIGN_WINDOW_KEY ->
          CompletionOpcode.RDMA_WRITE;
      case READ, READ_CELL, READ_BEYOND_REGION, READ_BEYOND_WINDOW -> CompletionOpcode.RDMA_READ;
      case FETCH_ADD, REVOKED_TYPE_1_KEY, MISALIGNED -> CompletionOpcode.FETCH_ADD;
      case COMPARE_SWAP -> CompletionOpcode.COMP_SWAP;
      case GRANT_KEY, BIND_TYPE_1_WINDOW -> CompletionOpcode.BIND_MW;
      case LOCAL_INVALIDATE -> CompletionOpcode.LOCAL_INV;
      default -> CompletionOpcode.SEND;
    };
  }

  /** Returns whether the request sends no packet. */
  boolean isLocal() {
    return this == GRANT_KEY || this == LOCAL_INVALIDATE || this == BIND_TYPE_1_WINDOW;
  }

  boolean isRejected() {
    return expectedStatus != CompletionStatus.SUCCESS;
  }

  /** Returns whether the operation concerns memory or messages, not the state of the queue pair. */
  boolean isRequest() {
    return this != FAIL && this != CLOSE && this != DRAIN;
  }
}
