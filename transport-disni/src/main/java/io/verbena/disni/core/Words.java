// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni.core;

/**
 * The slots of the blocks of 64-bit words that a {@link RdmaCore} reads and fills. The order is
 * part of the contract: {@code words.h} has the same names in the same order.
 */
public final class Words {
  private Words() {}

  /** {@code struct ibv_device_attr}. */
  public enum DeviceWords {
    MAX_MR_SIZE,
    MAX_QP,
    MAX_QP_WR,
    DEVICE_CAP_FLAGS,
    MAX_SGE,
    MAX_CQ,
    MAX_CQE,
    MAX_MR,
    MAX_PD,
    MAX_QP_RD_ATOM,
    MAX_QP_INIT_RD_ATOM,
    ATOMIC_CAP,
    MAX_MW,
    MAX_AH,
    MAX_SRQ,
    MAX_SRQ_WR,
    PHYS_PORT_CNT,
    VENDOR_ID,
    /** {@code enum ibv_transport_type}: 0 InfiniBand and RoCE, 1 iWARP. */
    TRANSPORT,
    COMP_VECTORS
  }

  /**
   * {@code struct ibv_cq_moderation_caps}: 0 if the device has no moderation; the period in
   * microseconds.
   */
  public enum ModerationWords {
    MAX_COUNT,
    MAX_PERIOD
  }

  /** {@code struct ibv_port_attr}; MTUs are codes, 1 for 256 to 5 for 4096. */
  public enum PortWords {
    STATE,
    MAX_MTU,
    ACTIVE_MTU,
    GID_TBL_LEN,
    MAX_MSG_SZ,
    LINK_LAYER,
    LID
  }

  /**
   * An asynchronous event. The element is the pointer of the object that the event reports, the
   * number of the port that went up or down, or 0.
   */
  public enum AsyncWords {
    TYPE,
    ELEMENT
  }

  /** The keys of a memory region or window. */
  public enum KeyWords {
    LKEY,
    RKEY
  }

  /** {@code struct ibv_srq_attr}. */
  public enum SharedReceiveWords {
    MAX_WR,
    MAX_SGE,
    LIMIT
  }

  /**
   * {@code struct ibv_qp_init_attr}; the call overwrites MAX_SEND_WR to MAX_INLINE_DATA with the
   * granted values.
   */
  public enum QueuePairWords {
    TYPE,
    SEND_CQ,
    RECV_CQ,
    SRQ,
    SQ_SIG_ALL,
    MAX_SEND_WR,
    MAX_RECV_WR,
    MAX_SEND_SGE,
    MAX_RECV_SGE,
    MAX_INLINE_DATA,
    /** Written by the call. */
    QP_NUM
  }

  /** {@code struct ibv_qp_attr}; the mask has the bits of {@code enum ibv_qp_attr_mask}. */
  public enum AttributeWords {
    MASK,
    STATE,
    CUR_STATE,
    EN_SQD_ASYNC_NOTIFY,
    ACCESS_FLAGS,
    PKEY_INDEX,
    PORT,
    QKEY,
    /** The GID's first and last 8 bytes, each as a big-endian number. */
    AV_GID_HIGH,
    AV_GID_LOW,
    AV_SGID_INDEX,
    AV_HOP_LIMIT,
    AV_TRAFFIC_CLASS,
    AV_FLOW_LABEL,
    /** Whether packets have a GRH. */
    AV_IS_GLOBAL,
    AV_LID,
    AV_SL,
    AV_SRC_PATH_BITS,
    AV_STATIC_RATE,
    AV_PORT,
    PATH_MTU,
    TIMEOUT,
    RETRY_CNT,
    RNR_RETRY,
    RQ_PSN,
    MAX_QP_RD_ATOMIC,
    MIN_RNR_TIMER,
    SQ_PSN,
    MAX_DEST_RD_ATOMIC,
    DEST_QPN
  }

  /** {@code struct ibv_ah_attr}. */
  public enum AddressWords {
    GID_HIGH,
    GID_LOW,
    SGID_INDEX,
    HOP_LIMIT,
    TRAFFIC_CLASS,
    FLOW_LABEL,
    IS_GLOBAL,
    LID,
    SL,
    PORT
  }

  /**
   * {@code struct rdma_cm_event} with {@code rdma_conn_param}, or of datagrams with {@code
   * rdma_ud_param}.
   */
  public enum EventWords {
    TYPE,
    IDENTIFIER,
    LISTENER,
    STATUS,
    PRIVATE_DATA_LENGTH,
    RESPONDER_RESOURCES,
    INITIATOR_DEPTH,
    RETRY_COUNT,
    RNR_RETRY_COUNT,
    PEER_QP_NUM,
    QUEUE_KEY,
    GID_HIGH,
    GID_LOW,
    SGID_INDEX,
    HOP_LIMIT,
    TRAFFIC_CLASS,
    FLOW_LABEL,
    LID,
    SL
  }

  /** {@code struct rdma_conn_param}. */
  public enum ParameterWords {
    PRIVATE_DATA,
    PRIVATE_DATA_LENGTH,
    RESPONDER_RESOURCES,
    INITIATOR_DEPTH,
    RETRY_COUNT,
    RNR_RETRY_COUNT,
    QP_NUM,
    SRQ
  }
}
