// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * The kind of operation that a successful completion ends; numbers as in {@code enum
 * ibv_wc_opcode}.
 */
public enum CompletionOpcode {
  SEND(0),
  RDMA_WRITE(1),
  RDMA_READ(2),
  COMP_SWAP(3),
  FETCH_ADD(4),
  BIND_MW(5),
  LOCAL_INV(6),
  RECV(128),
  RECV_RDMA_WITH_IMM(129);

  private static final CompletionOpcode[] VALUES = values();
  private final int code;

  CompletionOpcode(int code) {
    this.code = code;
  }

  /** Returns the number of this opcode in {@code enum ibv_wc_opcode}. */
  public int code() {
    return code;
  }

  /**
   * Returns the opcode with this number.
   *
   * @throws IllegalArgumentException if there is none
   */
  public static CompletionOpcode of(int code) {
    if (code >= 0 && code <= LOCAL_INV.code) {
      return VALUES[code];
    }
    if (code == RECV.code) {
      return RECV;
    }
    if (code == RECV_RDMA_WITH_IMM.code) {
      return RECV_RDMA_WITH_IMM;
    }
    throw new IllegalArgumentException(
        "completion opcode: " + code + " (expected: 0..6, 128, 129)");
  }

  /** Returns whether this completes a receive: of a SEND, or of a WRITE_WITH_IMM. */
  public boolean isReceive() {
    return code >= RECV.code;
  }
}
