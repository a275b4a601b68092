package io.verbena.simulation.verbs;

import io.verbena.verbs.CompletionOpcode;
import io.verbena.verbs.CompletionStatus;

/** What an operation of a simulated program does. */
enum OperationKind {
  SEND(true),
  SEND_IMMEDIATE(true),
  WRITE(false),
  WRITE_IMMEDIATE(true),
  READ(false),
  FETCH_ADD(false),
  COMPARE_SWAP(false),
  /** A WRITE with a key that names nothing. */
  WRONG_KEY(false, CompletionStatus.REM_ACCESS_ERR),
  /** A READ of which the last byte is beyond the region. */
  BEYOND(false, CompletionStatus.REM_ACCESS_ERR),
  /** A fetch-and-add on an address that is no multiple of 8. */
  MISALIGNED(false, CompletionStatus.REM_INV_REQ_ERR),
  /** A SEND larger than the receive. */
  TOO_LARGE(true, CompletionStatus.REM_INV_REQ_ERR),
  /** A WRITE with a key that lives no more, or gives no right to it. */
  DEAD_KEY(false, CompletionStatus.REM_ACCESS_ERR),
  /** A WRITE with a key of a window that another queue pair has bound for its own peer. */
  OTHERS_KEY(false, CompletionStatus.REM_ACCESS_ERR),
  /** A fetch-and-add with a key of before of the window of type 1. */
  DEAD_ADD(false, CompletionStatus.REM_ACCESS_ERR),
  /** A READ of which the last byte is beyond a window, but not beyond its region. */
  BEYOND_DOOR(false, CompletionStatus.REM_ACCESS_ERR),
  /** A SEND_WITH_INV with a key that names nothing: arrives, but is the end of the responder. */
  INVALIDATE_NOTHING(true),
  /** A datagram with another queue key than its receiver's. */
  WRONG_QUEUE_KEY(true, CompletionStatus.REM_INV_REQ_ERR),
  /** Gives peers a key: binds a window of type 2, or registers memory once more. */
  OPEN(false),
  /** LOCAL_INV of such a key. */
  INVALIDATE(false),
  /** SEND_WITH_INV of such a key of the peer's; a SEND if there is none. */
  GIVE_BACK(true),
  /** Deregisters such memory or deallocates such a window, at once. */
  DEALLOCATE(false),
  /** Binds the window of type 1 of its device anew. */
  BIND_ANEW(false),
  /** Has such memory registered anew, at once: with other rights, in another domain, elsewhere. */
  REREGISTER(false),
  /** The program has its send queue drained, and lets it go on later. */
  DRAIN(false),
  /** The program moves its queue pair to ERR. */
  FAIL(false),
  /** The program closes its queue pair. */
  CLOSE(false);

  private final boolean takesReceive;

  /** What it ends with at its requester, if the responder is to refuse it; else SUCCESS. */
  private final CompletionStatus due;

  OperationKind(boolean takesReceive) {
    this(takesReceive, CompletionStatus.SUCCESS);
  }

  OperationKind(boolean takesReceive, CompletionStatus due) {
    this.takesReceive = takesReceive;
    this.due = due;
  }

  boolean takesReceive() {
    return takesReceive;
  }

  CompletionStatus due() {
    return due;
  }

  /** Whether it is the end of a reliable connection. */
  boolean kills() {
    return isRefused() || this == INVALIDATE_NOTHING;
  }

  /** Whether it uses a key of the peer's. */
  boolean isAccess() {
    return switch (this) {
      case WRITE, WRITE_IMMEDIATE, READ, FETCH_ADD, COMPARE_SWAP -> true;
      default -> false;
    };
  }

  /** What its completion calls it. */
  CompletionOpcode opcode() {
    return switch (this) {
      case WRITE, WRITE_IMMEDIATE, WRONG_KEY, DEAD_KEY, OTHERS_KEY -> CompletionOpcode.RDMA_WRITE;
      case READ, BEYOND, BEYOND_DOOR -> CompletionOpcode.RDMA_READ;
      case FETCH_ADD, DEAD_ADD, MISALIGNED -> CompletionOpcode.FETCH_ADD;
      case COMPARE_SWAP -> CompletionOpcode.COMP_SWAP;
      case OPEN, BIND_ANEW -> CompletionOpcode.BIND_MW;
      case INVALIDATE -> CompletionOpcode.LOCAL_INV;
      default -> CompletionOpcode.SEND;
    };
  }

  /** Whether no packet comes of it. */
  boolean isLocal() {
    return this == OPEN || this == INVALIDATE || this == BIND_ANEW;
  }

  boolean isRefused() {
    return due != CompletionStatus.SUCCESS;
  }

  /** Whether it is a request, and not something done to the queue pair. */
  boolean isRequest() {
    return this != FAIL && this != CLOSE && this != DRAIN;
  }
}
