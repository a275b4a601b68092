// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * The offsets of the fields of libibverbs' structures on 64-bit machines; {@code layout.c} asserts
 * the same numbers when it is compiled.
 */
final class Layout {
  /** {@code struct ibv_sge}. */
  static final int SGE_ADDR = 0;

  static final int SGE_LENGTH = 8;
  static final int SGE_LKEY = 12;
  static final int SGE_SIZE = 16;

  /**
   * {@code struct ibv_recv_wr}; the first four fields of {@code struct ibv_send_wr} are the same.
   */
  static final int WR_ID = 0;

  static final int WR_NEXT = 8;
  static final int WR_SG_LIST = 16;
  static final int WR_NUM_SGE = 24;
  static final int RECV_WR_SIZE = 32;

  /** {@code struct ibv_send_wr}. */
  static final int WR_OPCODE = 28;

  static final int WR_SEND_FLAGS = 32;

  /** In network order when it is an immediate, in host order when it is a key. */
  static final int WR_IMM_OR_KEY = 36;

  static final int WR_RDMA_REMOTE_ADDR = 40;
  static final int WR_RDMA_RKEY = 48;
  static final int WR_ATOMIC_REMOTE_ADDR = 40;
  static final int WR_ATOMIC_COMPARE_ADD = 48;
  static final int WR_ATOMIC_SWAP = 56;
  static final int WR_ATOMIC_RKEY = 64;
  static final int WR_UD_AH = 40;
  static final int WR_UD_REMOTE_QPN = 48;
  static final int WR_UD_REMOTE_QKEY = 52;
  static final int WR_BIND_MW = 80;
  static final int WR_BIND_RKEY = 88;
  static final int WR_BIND_MR = 96;
  static final int WR_BIND_ADDR = 104;
  static final int WR_BIND_LENGTH = 112;
  static final int WR_BIND_ACCESS = 120;
  static final int SEND_WR_SIZE = 128;

  /** {@code struct ibv_wc}. */
  static final int WC_WR_ID = 0;

  static final int WC_STATUS = 8;
  static final int WC_OPCODE = 12;
  static final int WC_VENDOR_ERR = 16;
  static final int WC_BYTE_LEN = 20;
  static final int WC_IMM_OR_KEY = 24;
  static final int WC_QP_NUM = 28;
  static final int WC_SRC_QP = 32;
  static final int WC_FLAGS = 36;
  static final int WC_SLID = 42;
  static final int WC_SL = 44;
  static final int WC_SIZE = 48;

  private Layout() {}
}
