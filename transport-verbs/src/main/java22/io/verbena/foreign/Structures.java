// SPDX-License-Identifier: Apache-2.0
package io.verbena.foreign;

/**
 * The offsets of the fields of libibverbs' and librdmacm's structures on 64-bit machines; {@code
 * structures.c}, which a test compiles, asserts the same numbers.
 */
final class Structures {
  /** {@code struct ibv_context}; a mutex of platform-dependent size follows the operations. */
  static final int CONTEXT_DEVICE = 0;

  static final int OPS_ALLOC_MW = 64;
  static final int OPS_BIND_MW = 72;
  static final int OPS_DEALLOC_MW = 80;
  static final int OPS_POLL_CQ = 96;
  static final int OPS_REQ_NOTIFY_CQ = 104;
  static final int OPS_POST_SRQ_RECV = 168;
  static final int OPS_POST_SEND = 208;
  static final int OPS_POST_RECV = 216;
  static final int CONTEXT_ASYNC_FD = 268;
  static final int CONTEXT_COMP_VECTORS = 272;
  static final int CONTEXT_MUTEX = 280;

  /** {@code struct ibv_device}; two operations and the node type come first. */
  static final int IBV_DEVICE_TRANSPORT = 20;

  /**
   * {@code struct verbs_context}, which ends with the context: offsets backwards from the context.
   */
  static final int BEFORE_SIZE = 8;

  static final int BEFORE_QUERY_DEVICE_EX = 104;
  static final int BEFORE_CREATE_CQ_EX = 120;
  static final int BEFORE_MODIFY_CQ = 184;
  static final int BEFORE_QUERY_PORT = 320;

  /** {@code struct ibv_device_attr}; the firmware version comes first. */
  static final int DEVICE_MAX_MR_SIZE = 80;

  static final int DEVICE_VENDOR_ID = 96;
  static final int DEVICE_MAX_QP = 108;
  static final int DEVICE_MAX_QP_WR = 112;
  static final int DEVICE_DEVICE_CAP_FLAGS = 116;
  static final int DEVICE_MAX_SGE = 120;
  static final int DEVICE_MAX_CQ = 128;
  static final int DEVICE_MAX_CQE = 132;
  static final int DEVICE_MAX_MR = 136;
  static final int DEVICE_MAX_PD = 140;
  static final int DEVICE_MAX_QP_RD_ATOM = 144;
  static final int DEVICE_MAX_QP_INIT_RD_ATOM = 156;
  static final int DEVICE_ATOMIC_CAP = 164;
  static final int DEVICE_MAX_MW = 176;
  static final int DEVICE_MAX_AH = 200;
  static final int DEVICE_MAX_SRQ = 212;
  static final int DEVICE_MAX_SRQ_WR = 216;
  static final int DEVICE_PHYS_PORT_CNT = 227;
  static final int DEVICE_SIZE = 232;

  /** {@code struct ibv_device_attr_ex}. */
  static final int DEVICE_EX_MAX_CQ_COUNT = 368;

  static final int DEVICE_EX_MAX_CQ_PERIOD = 370;
  static final int DEVICE_EX_SIZE = 400;

  /** {@code struct ibv_port_attr}. */
  static final int PORT_STATE = 0;

  static final int PORT_MAX_MTU = 4;
  static final int PORT_ACTIVE_MTU = 8;
  static final int PORT_GID_TBL_LEN = 12;
  static final int PORT_MAX_MSG_SZ = 20;
  static final int PORT_LID = 34;
  static final int PORT_LINK_LAYER = 46;
  static final int PORT_SIZE = 52;

  /** {@code struct ibv_gid_entry}; the GID comes first. */
  static final int GID_INDEX = 16;

  static final int GID_PORT = 20;
  static final int GID_TYPE = 24;

  static final int GID_SIZE = 32;

  /** {@code struct ibv_async_event}. */
  static final int ASYNC_ELEMENT = 0;

  static final int ASYNC_TYPE = 8;
  static final int ASYNC_SIZE = 16;

  /** {@code struct ibv_pd}. */
  static final int PD_CONTEXT = 0;

  /** {@code struct ibv_mr}. */
  static final int MR_PD = 8;

  static final int MR_HANDLE = 32;
  static final int MR_LKEY = 36;
  static final int MR_RKEY = 40;

  /** {@code struct ibv_mw}. */
  static final int MW_CONTEXT = 0;

  static final int MW_PD = 8;
  static final int MW_RKEY = 16;
  static final int MW_TYPE = 24;

  /** {@code struct ibv_mw_bind}. */
  static final int BIND_WR_ID = 0;

  static final int BIND_SEND_FLAGS = 8;
  static final int BIND_MR = 16;
  static final int BIND_ADDR = 24;
  static final int BIND_LENGTH = 32;
  static final int BIND_ACCESS = 40;
  static final int BIND_SIZE = 48;

  /** {@code struct ibv_comp_channel}. */
  static final int CHANNEL_FD = 8;

  /** {@code struct ibv_cq}. */
  static final int CQ_CONTEXT = 0;

  static final int CQ_CQE = 28;

  /** {@code struct ibv_cq_init_attr_ex}. */
  static final int CQ_WISH_CQE = 0;

  static final int CQ_WISH_CHANNEL = 16;
  static final int CQ_WISH_VECTOR = 24;
  static final int CQ_WISH_WC_FLAGS = 32;
  static final int CQ_WISH_COMP_MASK = 40;
  static final int CQ_WISH_FLAGS = 44;
  static final int CQ_WISH_SIZE = 56;

  /** {@code struct ibv_modify_cq_attr}. */
  static final int CQ_CHANGE_MASK = 0;

  static final int CQ_CHANGE_COUNT = 4;
  static final int CQ_CHANGE_PERIOD = 6;
  static final int CQ_CHANGE_SIZE = 8;

  /** {@code struct ibv_srq}. */
  static final int SRQ_CONTEXT = 0;

  /** {@code struct ibv_srq_init_attr}. */
  static final int SRQ_WISH_ATTR = 8;

  static final int SRQ_WISH_SIZE = 24;

  /** {@code struct ibv_srq_attr}. */
  static final int SRQ_MAX_WR = 0;

  static final int SRQ_MAX_SGE = 4;
  static final int SRQ_LIMIT = 8;
  static final int SRQ_SIZE = 12;

  /** {@code struct ibv_qp}. */
  static final int QP_CONTEXT = 0;

  static final int QP_NUM = 52;

  /** {@code struct ibv_qp_init_attr}. */
  static final int QP_WISH_SEND_CQ = 8;

  static final int QP_WISH_RECV_CQ = 16;
  static final int QP_WISH_SRQ = 24;
  static final int QP_WISH_MAX_SEND_WR = 32;
  static final int QP_WISH_MAX_RECV_WR = 36;
  static final int QP_WISH_MAX_SEND_SGE = 40;
  static final int QP_WISH_MAX_RECV_SGE = 44;
  static final int QP_WISH_MAX_INLINE_DATA = 48;
  static final int QP_WISH_TYPE = 52;
  static final int QP_WISH_SQ_SIG_ALL = 56;
  static final int QP_WISH_SIZE = 64;

  /** {@code struct ibv_qp_attr}. */
  static final int QP_STATE = 0;

  static final int QP_CUR_STATE = 4;
  static final int QP_PATH_MTU = 8;
  static final int QP_QKEY = 16;
  static final int QP_RQ_PSN = 20;
  static final int QP_SQ_PSN = 24;
  static final int QP_DEST_QPN = 28;
  static final int QP_ACCESS_FLAGS = 32;
  static final int QP_AV = 56;
  static final int QP_PKEY_INDEX = 120;
  static final int QP_EN_SQD_ASYNC_NOTIFY = 124;
  static final int QP_MAX_RD_ATOMIC = 126;
  static final int QP_MAX_DEST_RD_ATOMIC = 127;
  static final int QP_MIN_RNR_TIMER = 128;
  static final int QP_PORT = 129;
  static final int QP_TIMEOUT = 130;
  static final int QP_RETRY_CNT = 131;
  static final int QP_RNR_RETRY = 132;
  static final int QP_SIZE = 144;

  /** {@code struct ibv_ece}. */
  static final int ECE_VENDOR = 0;

  static final int ECE_OPTIONS = 4;
  static final int ECE_SIZE = 12;

  /** {@code struct ibv_ah_attr}; the GID comes first. */
  static final int AH_FLOW_LABEL = 16;

  static final int AH_SGID_INDEX = 20;
  static final int AH_HOP_LIMIT = 21;
  static final int AH_TRAFFIC_CLASS = 22;
  static final int AH_DLID = 24;
  static final int AH_SL = 26;
  static final int AH_SRC_PATH_BITS = 27;
  static final int AH_STATIC_RATE = 28;
  static final int AH_IS_GLOBAL = 29;
  static final int AH_PORT = 30;
  static final int AH_SIZE = 32;

  /** {@code struct ibv_send_wr}. */
  static final int WR_NEXT = 8;

  static final int WR_OPCODE = 28;
  static final int WR_BIND_MW = 80;
  static final int WR_BIND_RKEY = 88;

  /** {@code struct rdma_event_channel}. */
  static final int EVENT_CHANNEL_FD = 0;

  /** {@code struct rdma_cm_id}. */
  static final int ID_VERBS = 0;

  static final int ID_QP = 24;
  static final int ID_SOURCE = 32;
  static final int ID_DESTINATION = 160;
  static final int ID_PORT_NUM = 348;
  static final int ID_QP_TYPE = 408;

  /** {@code struct rdma_cm_event}. */
  static final int EVENT_ID = 0;

  static final int EVENT_LISTENER = 8;
  static final int EVENT_TYPE = 16;
  static final int EVENT_STATUS = 20;
  static final int EVENT_PARAMETERS = 24;

  /**
   * {@code struct rdma_conn_param}; the first two offsets hold for {@code struct rdma_ud_param}
   * too.
   */
  static final int PARAMETERS_DATA = 0;

  static final int PARAMETERS_DATA_LENGTH = 8;
  static final int PARAMETERS_RESPONDER_RESOURCES = 9;
  static final int PARAMETERS_INITIATOR_DEPTH = 10;
  static final int PARAMETERS_RETRY_COUNT = 12;
  static final int PARAMETERS_RNR_RETRY_COUNT = 13;
  static final int PARAMETERS_SRQ = 14;
  static final int PARAMETERS_QP_NUM = 16;
  static final int PARAMETERS_SIZE = 24;

  /** {@code struct rdma_ud_param}. */
  static final int UD_AV = 16;

  static final int UD_QP_NUM = 48;
  static final int UD_QKEY = 52;

  private Structures() {}

  /** Returns the offset of {@code ibv_context.abi_compat}, which follows the mutex. */
  static int contextAbiCompat() {
    int mutex = System.getProperty("os.arch").equals("aarch64") ? 48 : 40;
    return CONTEXT_MUTEX + mutex;
  }
}
