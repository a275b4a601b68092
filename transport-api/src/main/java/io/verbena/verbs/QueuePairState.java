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
  /** Receives may be posted; incoming packets are dropped. */
  INIT(1),
  /** Ready to receive: the responder works, sends are refused. */
  RTR(2),
  /** Ready to send: everything works. */
  RTS(3),
  /** Send queue draining: started requests finish, no others start. */
  SQD(4),
  /** Send queue error, on UC and UD only: the responder still works. */
  SQE(5),
  /** Pending requests, and those posted from now on, complete as flushed. */
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

  /**
   * Returns the state with this number.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static QueuePairState of(int code) {
    if (code < 0 || code >= VALUES.length) {
      throw new IllegalArgumentException("queue pair state: " + code + " (expected: 0..6)");
    }
    return VALUES[code];
  }
}
