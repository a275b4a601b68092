// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** The operation of a send work request; numbers as in {@code enum ibv_wr_opcode}. */
public enum SendOpcode {
  RDMA_WRITE(0),
  RDMA_WRITE_WITH_IMM(1),
  SEND(2),
  SEND_WITH_IMM(3),
  RDMA_READ(4),
  ATOMIC_CMP_AND_SWP(5),
  ATOMIC_FETCH_AND_ADD(6),
  LOCAL_INV(7),
  BIND_MW(8),
  SEND_WITH_INV(9);

  private final int code;

  SendOpcode(int code) {
    this.code = code;
  }

  /** Returns the number of this opcode in {@code enum ibv_wr_opcode}. */
  public int code() {
    return code;
  }
}
