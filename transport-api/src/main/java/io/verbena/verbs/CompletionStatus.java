// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The result of a work request (IBTA volume 1, section 11.6.2); numbers and names as in {@code enum
 * ibv_wc_status}. Numbers that belong to reliable datagrams and end-to-end contexts never occur and
 * are absent.
 */
public enum CompletionStatus {
  /** The work request is done. */
  SUCCESS(0),
  /**
   * A local buffer is too small for the incoming data, or a length is beyond the queue pair's
   * limits.
   */
  LOC_LEN_ERR(1),
  /** An internal consistency error of the queue pair, or a local operation that failed. */
  LOC_QP_OP_ERR(2),
  /** A local buffer is not in the region that its lkey names, or the region forbids the access. */
  LOC_PROT_ERR(4),
  /** Flushed: the queue pair was, or went, into the error state. */
  WR_FLUSH_ERR(5),
  /** A memory window could not be bound. */
  MW_BIND_ERR(6),
  /** A response that does not fit the request. */
  BAD_RESP_ERR(7),
  /** Memory protection refused a local buffer during a WRITE_WITH_IMM of the peer. */
  LOC_ACCESS_ERR(8),
  /** The responder refused the operation as not allowed, malformed or misaligned. */
  REM_INV_REQ_ERR(9),
  /** The responder's memory protection refused access: wrong rkey, range, domain or right. */
  REM_ACCESS_ERR(10),
  /** The responder failed on its own side. */
  REM_OP_ERR(11),
  /** The peer did not answer within the retries. */
  RETRY_EXC_ERR(12),
  /** The peer had no receive posted within the RNR retries. */
  RNR_RETRY_EXC_ERR(13),
  /** A fatal error of the device. */
  FATAL_ERR(19),
  /** A response took too long. */
  RESP_TIMEOUT_ERR(20),
  /** Any other error. */
  GENERAL_ERR(21);

  private static final CompletionStatus[] BY_CODE = new CompletionStatus[22];

  static {
    for (CompletionStatus status : values()) {
      BY_CODE[status.code] = status;
    }
  }

  private final int code;

  CompletionStatus(int code) {
    this.code = code;
  }

  /** Returns the number of this status in {@code enum ibv_wc_status}. */
  public int code() {
    return code;
  }

  /** Returns the status with this number; {@link #GENERAL_ERR} for an unknown number. */
  public static CompletionStatus of(int code) {
    CompletionStatus status = code >= 0 && code < BY_CODE.length ? BY_CODE[code] : null;
    return status == null ? GENERAL_ERR : status;
  }
}
