// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The states of a queue pair (IBTA volume 1, section 10.3.1); numbers as in {@code enum
 * ibv_qp_state}.
 *
 * <pre>{@code
 * RESET -> INIT -> RTR -> RTS <-> SQD
 *            |      |      |  \     |
 *            |      |      |   SQE  |      any state -> RESET
 *            +------+------+----+---+-> ERR
 * }</pre>
 */
public enum QueuePairState {
  /** Just created: nothing may be posted. */
  RESET(0),
  /** Receives may be posted; what arrives is dropped. */
  INIT(1),
  /** Ready to receive: the responder works, sends are refused. */
  RTR(2),
  /** Ready to send: everything works. */
  RTS(3),
  /** Send queue draining: what was begun is finished, nothing new starts. */
  SQD(4),
  /** Send queue error, on UC and UD only: the responder still works. */
  SQE(5),
  /** Everything pending and everything posted from now on completes as flushed. */
  ERR(6);

  private static final QueuePairState[] VALUES = values();
  private final int code;

  QueuePairState(int code) {
    this.code = code;
  }

  /** Returns the number in {@code enum ibv_qp_state}. */
  public int code() {
    return code;
  }

  /** The state with this number. */
  public static QueuePairState of(int code) {
    if (code < 0 || code >= VALUES.length) {
      throw new IllegalArgumentException("queue pair state: " + code + " (expected: 0..6)");
    }
    return VALUES[code];
  }
}
