// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** The transport service of a queue pair; numbers as in {@code enum ibv_qp_type}. */
public enum QueuePairType {
  /** Reliable connection: all operations, in order, exactly once. */
  RC(2),
  /** Unreliable connection: SEND and WRITE, in order; messages may be lost. */
  UC(3),
  /** Unreliable datagram: SEND of up to one MTU to any peer. */
  UD(4);

  private final int code;

  QueuePairType(int code) {
    this.code = code;
  }

  /** Returns the number in {@code enum ibv_qp_type}. */
  public int code() {
    return code;
  }
}
