package io.verbena.simulation.verbs;

import io.verbena.verbs.CompletionStatus;

/** What an operation of a simulated program does. */
enum Kind {
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
  /** The program moves its queue pair to ERR. */
  FAIL(false),
  /** The program closes its queue pair. */
  CLOSE(false);

  private final boolean takesReceive;

  /** What it ends with at its requester, if the responder is to refuse it; else SUCCESS. */
  private final CompletionStatus due;

  Kind(boolean takesReceive) {
    this(takesReceive, CompletionStatus.SUCCESS);
  }

  Kind(boolean takesReceive, CompletionStatus due) {
    this.takesReceive = takesReceive;
    this.due = due;
  }

  boolean takesReceive() {
    return takesReceive;
  }

  CompletionStatus due() {
    return due;
  }

  boolean isRefused() {
    return due != CompletionStatus.SUCCESS;
  }

  /** Whether it is a request, and not something done to the queue pair. */
  boolean isRequest() {
    return this != FAIL && this != CLOSE;
  }
}
