// SPDX-License-Identifier: Apache-2.0
/* The numbers of Structures.java, held against the structures; a test compiles it, and compares names and values. */
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stddef.h>

#define LAYOUT(name, number, actual) _Static_assert((actual) == (number), #name)

#define BEFORE(field) (offsetof(struct verbs_context, context) - offsetof(struct verbs_context, field))

LAYOUT(CONTEXT_DEVICE, 0, offsetof(struct ibv_context, device));
LAYOUT(OPS_ALLOC_MW, 64, offsetof(struct ibv_context, ops.alloc_mw));
LAYOUT(OPS_BIND_MW, 72, offsetof(struct ibv_context, ops.bind_mw));
LAYOUT(OPS_DEALLOC_MW, 80, offsetof(struct ibv_context, ops.dealloc_mw));
LAYOUT(OPS_POLL_CQ, 96, offsetof(struct ibv_context, ops.poll_cq));
LAYOUT(OPS_REQ_NOTIFY_CQ, 104, offsetof(struct ibv_context, ops.req_notify_cq));
LAYOUT(OPS_POST_SRQ_RECV, 168, offsetof(struct ibv_context, ops.post_srq_recv));
LAYOUT(OPS_POST_SEND, 208, offsetof(struct ibv_context, ops.post_send));
LAYOUT(OPS_POST_RECV, 216, offsetof(struct ibv_context, ops.post_recv));
LAYOUT(CONTEXT_ASYNC_FD, 268, offsetof(struct ibv_context, async_fd));
LAYOUT(CONTEXT_COMP_VECTORS, 272, offsetof(struct ibv_context, num_comp_vectors));
LAYOUT(IBV_DEVICE_TRANSPORT, 20, offsetof(struct ibv_device, transport_type));
LAYOUT(CONTEXT_MUTEX, 280, offsetof(struct ibv_context, mutex));
LAYOUT(BEFORE_SIZE, 8, BEFORE(sz));
LAYOUT(BEFORE_QUERY_DEVICE_EX, 104, BEFORE(query_device_ex));
LAYOUT(BEFORE_CREATE_CQ_EX, 120, BEFORE(create_cq_ex));
LAYOUT(BEFORE_MODIFY_CQ, 184, BEFORE(modify_cq));
LAYOUT(BEFORE_QUERY_PORT, 320, BEFORE(query_port));
LAYOUT(DEVICE_MAX_MR_SIZE, 80, offsetof(struct ibv_device_attr, max_mr_size));
LAYOUT(DEVICE_VENDOR_ID, 96, offsetof(struct ibv_device_attr, vendor_id));
LAYOUT(DEVICE_MAX_QP, 108, offsetof(struct ibv_device_attr, max_qp));
LAYOUT(DEVICE_MAX_QP_WR, 112, offsetof(struct ibv_device_attr, max_qp_wr));
LAYOUT(DEVICE_DEVICE_CAP_FLAGS, 116, offsetof(struct ibv_device_attr, device_cap_flags));
LAYOUT(DEVICE_MAX_SGE, 120, offsetof(struct ibv_device_attr, max_sge));
LAYOUT(DEVICE_MAX_CQ, 128, offsetof(struct ibv_device_attr, max_cq));
LAYOUT(DEVICE_MAX_CQE, 132, offsetof(struct ibv_device_attr, max_cqe));
LAYOUT(DEVICE_MAX_MR, 136, offsetof(struct ibv_device_attr, max_mr));
LAYOUT(DEVICE_MAX_PD, 140, offsetof(struct ibv_device_attr, max_pd));
LAYOUT(DEVICE_MAX_QP_RD_ATOM, 144, offsetof(struct ibv_device_attr, max_qp_rd_atom));
LAYOUT(DEVICE_MAX_QP_INIT_RD_ATOM, 156, offsetof(struct ibv_device_attr, max_qp_init_rd_atom));
LAYOUT(DEVICE_ATOMIC_CAP, 164, offsetof(struct ibv_device_attr, atomic_cap));
LAYOUT(DEVICE_MAX_MW, 176, offsetof(struct ibv_device_attr, max_mw));
LAYOUT(DEVICE_MAX_AH, 200, offsetof(struct ibv_device_attr, max_ah));
LAYOUT(DEVICE_MAX_SRQ, 212, offsetof(struct ibv_device_attr, max_srq));
LAYOUT(DEVICE_MAX_SRQ_WR, 216, offsetof(struct ibv_device_attr, max_srq_wr));
LAYOUT(DEVICE_PHYS_PORT_CNT, 227, offsetof(struct ibv_device_attr, phys_port_cnt));
LAYOUT(DEVICE_SIZE, 232, sizeof(struct ibv_device_attr));
LAYOUT(DEVICE_EX_MAX_CQ_COUNT, 368, offsetof(struct ibv_device_attr_ex, cq_mod_caps.max_cq_count));
LAYOUT(DEVICE_EX_MAX_CQ_PERIOD, 370, offsetof(struct ibv_device_attr_ex, cq_mod_caps.max_cq_period));
LAYOUT(DEVICE_EX_SIZE, 400, sizeof(struct ibv_device_attr_ex));
LAYOUT(PORT_STATE, 0, offsetof(struct ibv_port_attr, state));
LAYOUT(PORT_MAX_MTU, 4, offsetof(struct ibv_port_attr, max_mtu));
LAYOUT(PORT_ACTIVE_MTU, 8, offsetof(struct ibv_port_attr, active_mtu));
LAYOUT(PORT_GID_TBL_LEN, 12, offsetof(struct ibv_port_attr, gid_tbl_len));
LAYOUT(PORT_MAX_MSG_SZ, 20, offsetof(struct ibv_port_attr, max_msg_sz));
LAYOUT(PORT_LID, 34, offsetof(struct ibv_port_attr, lid));
LAYOUT(PORT_LINK_LAYER, 46, offsetof(struct ibv_port_attr, link_layer));
LAYOUT(PORT_SIZE, 52, sizeof(struct ibv_port_attr));
LAYOUT(GID_INDEX, 16, offsetof(struct ibv_gid_entry, gid_index));
LAYOUT(GID_PORT, 20, offsetof(struct ibv_gid_entry, port_num));
LAYOUT(GID_TYPE, 24, offsetof(struct ibv_gid_entry, gid_type));
LAYOUT(GID_SIZE, 32, sizeof(struct ibv_gid_entry));
LAYOUT(ASYNC_ELEMENT, 0, offsetof(struct ibv_async_event, element));
LAYOUT(ASYNC_TYPE, 8, offsetof(struct ibv_async_event, event_type));
LAYOUT(ASYNC_SIZE, 16, sizeof(struct ibv_async_event));
LAYOUT(PD_CONTEXT, 0, offsetof(struct ibv_pd, context));
LAYOUT(MR_PD, 8, offsetof(struct ibv_mr, pd));
LAYOUT(MR_HANDLE, 32, offsetof(struct ibv_mr, handle));
LAYOUT(MR_LKEY, 36, offsetof(struct ibv_mr, lkey));
LAYOUT(MR_RKEY, 40, offsetof(struct ibv_mr, rkey));
LAYOUT(MW_CONTEXT, 0, offsetof(struct ibv_mw, context));
LAYOUT(MW_PD, 8, offsetof(struct ibv_mw, pd));
LAYOUT(MW_RKEY, 16, offsetof(struct ibv_mw, rkey));
LAYOUT(MW_TYPE, 24, offsetof(struct ibv_mw, type));
LAYOUT(BIND_WR_ID, 0, offsetof(struct ibv_mw_bind, wr_id));
LAYOUT(BIND_SEND_FLAGS, 8, offsetof(struct ibv_mw_bind, send_flags));
LAYOUT(BIND_MR, 16, offsetof(struct ibv_mw_bind, bind_info.mr));
LAYOUT(BIND_ADDR, 24, offsetof(struct ibv_mw_bind, bind_info.addr));
LAYOUT(BIND_LENGTH, 32, offsetof(struct ibv_mw_bind, bind_info.length));
LAYOUT(BIND_ACCESS, 40, offsetof(struct ibv_mw_bind, bind_info.mw_access_flags));
LAYOUT(BIND_SIZE, 48, sizeof(struct ibv_mw_bind));
LAYOUT(CHANNEL_FD, 8, offsetof(struct ibv_comp_channel, fd));
LAYOUT(CQ_CONTEXT, 0, offsetof(struct ibv_cq, context));
LAYOUT(CQ_CQE, 28, offsetof(struct ibv_cq, cqe));
LAYOUT(CQ_WISH_CQE, 0, offsetof(struct ibv_cq_init_attr_ex, cqe));
LAYOUT(CQ_WISH_CHANNEL, 16, offsetof(struct ibv_cq_init_attr_ex, channel));
LAYOUT(CQ_WISH_VECTOR, 24, offsetof(struct ibv_cq_init_attr_ex, comp_vector));
LAYOUT(CQ_WISH_WC_FLAGS, 32, offsetof(struct ibv_cq_init_attr_ex, wc_flags));
LAYOUT(CQ_WISH_COMP_MASK, 40, offsetof(struct ibv_cq_init_attr_ex, comp_mask));
LAYOUT(CQ_WISH_FLAGS, 44, offsetof(struct ibv_cq_init_attr_ex, flags));
LAYOUT(CQ_WISH_SIZE, 56, sizeof(struct ibv_cq_init_attr_ex));
LAYOUT(CQ_CHANGE_MASK, 0, offsetof(struct ibv_modify_cq_attr, attr_mask));
LAYOUT(CQ_CHANGE_COUNT, 4, offsetof(struct ibv_modify_cq_attr, moderate.cq_count));
LAYOUT(CQ_CHANGE_PERIOD, 6, offsetof(struct ibv_modify_cq_attr, moderate.cq_period));
LAYOUT(CQ_CHANGE_SIZE, 8, sizeof(struct ibv_modify_cq_attr));
LAYOUT(SRQ_CONTEXT, 0, offsetof(struct ibv_srq, context));
LAYOUT(SRQ_WISH_ATTR, 8, offsetof(struct ibv_srq_init_attr, attr));
LAYOUT(SRQ_WISH_SIZE, 24, sizeof(struct ibv_srq_init_attr));
LAYOUT(SRQ_MAX_WR, 0, offsetof(struct ibv_srq_attr, max_wr));
LAYOUT(SRQ_MAX_SGE, 4, offsetof(struct ibv_srq_attr, max_sge));
LAYOUT(SRQ_LIMIT, 8, offsetof(struct ibv_srq_attr, srq_limit));
LAYOUT(SRQ_SIZE, 12, sizeof(struct ibv_srq_attr));
LAYOUT(QP_CONTEXT, 0, offsetof(struct ibv_qp, context));
LAYOUT(QP_NUM, 52, offsetof(struct ibv_qp, qp_num));
LAYOUT(QP_WISH_SEND_CQ, 8, offsetof(struct ibv_qp_init_attr, send_cq));
LAYOUT(QP_WISH_RECV_CQ, 16, offsetof(struct ibv_qp_init_attr, recv_cq));
LAYOUT(QP_WISH_SRQ, 24, offsetof(struct ibv_qp_init_attr, srq));
LAYOUT(QP_WISH_MAX_SEND_WR, 32, offsetof(struct ibv_qp_init_attr, cap.max_send_wr));
LAYOUT(QP_WISH_MAX_RECV_WR, 36, offsetof(struct ibv_qp_init_attr, cap.max_recv_wr));
LAYOUT(QP_WISH_MAX_SEND_SGE, 40, offsetof(struct ibv_qp_init_attr, cap.max_send_sge));
LAYOUT(QP_WISH_MAX_RECV_SGE, 44, offsetof(struct ibv_qp_init_attr, cap.max_recv_sge));
LAYOUT(QP_WISH_MAX_INLINE_DATA, 48, offsetof(struct ibv_qp_init_attr, cap.max_inline_data));
LAYOUT(QP_WISH_TYPE, 52, offsetof(struct ibv_qp_init_attr, qp_type));
LAYOUT(QP_WISH_SQ_SIG_ALL, 56, offsetof(struct ibv_qp_init_attr, sq_sig_all));
LAYOUT(QP_WISH_SIZE, 64, sizeof(struct ibv_qp_init_attr));
LAYOUT(QP_STATE, 0, offsetof(struct ibv_qp_attr, qp_state));
LAYOUT(QP_CUR_STATE, 4, offsetof(struct ibv_qp_attr, cur_qp_state));
LAYOUT(QP_PATH_MTU, 8, offsetof(struct ibv_qp_attr, path_mtu));
LAYOUT(QP_QKEY, 16, offsetof(struct ibv_qp_attr, qkey));
LAYOUT(QP_RQ_PSN, 20, offsetof(struct ibv_qp_attr, rq_psn));
LAYOUT(QP_SQ_PSN, 24, offsetof(struct ibv_qp_attr, sq_psn));
LAYOUT(QP_DEST_QPN, 28, offsetof(struct ibv_qp_attr, dest_qp_num));
LAYOUT(QP_ACCESS_FLAGS, 32, offsetof(struct ibv_qp_attr, qp_access_flags));
LAYOUT(QP_AV, 56, offsetof(struct ibv_qp_attr, ah_attr));
LAYOUT(QP_PKEY_INDEX, 120, offsetof(struct ibv_qp_attr, pkey_index));
LAYOUT(QP_EN_SQD_ASYNC_NOTIFY, 124, offsetof(struct ibv_qp_attr, en_sqd_async_notify));
LAYOUT(QP_MAX_RD_ATOMIC, 126, offsetof(struct ibv_qp_attr, max_rd_atomic));
LAYOUT(QP_MAX_DEST_RD_ATOMIC, 127, offsetof(struct ibv_qp_attr, max_dest_rd_atomic));
LAYOUT(QP_MIN_RNR_TIMER, 128, offsetof(struct ibv_qp_attr, min_rnr_timer));
LAYOUT(QP_PORT, 129, offsetof(struct ibv_qp_attr, port_num));
LAYOUT(QP_TIMEOUT, 130, offsetof(struct ibv_qp_attr, timeout));
LAYOUT(QP_RETRY_CNT, 131, offsetof(struct ibv_qp_attr, retry_cnt));
LAYOUT(QP_RNR_RETRY, 132, offsetof(struct ibv_qp_attr, rnr_retry));
LAYOUT(QP_SIZE, 144, sizeof(struct ibv_qp_attr));
LAYOUT(ECE_VENDOR, 0, offsetof(struct ibv_ece, vendor_id));
LAYOUT(ECE_OPTIONS, 4, offsetof(struct ibv_ece, options));
LAYOUT(ECE_SIZE, 12, sizeof(struct ibv_ece));
LAYOUT(AH_FLOW_LABEL, 16, offsetof(struct ibv_ah_attr, grh.flow_label));
LAYOUT(AH_SGID_INDEX, 20, offsetof(struct ibv_ah_attr, grh.sgid_index));
LAYOUT(AH_HOP_LIMIT, 21, offsetof(struct ibv_ah_attr, grh.hop_limit));
LAYOUT(AH_TRAFFIC_CLASS, 22, offsetof(struct ibv_ah_attr, grh.traffic_class));
LAYOUT(AH_DLID, 24, offsetof(struct ibv_ah_attr, dlid));
LAYOUT(AH_SL, 26, offsetof(struct ibv_ah_attr, sl));
LAYOUT(AH_SRC_PATH_BITS, 27, offsetof(struct ibv_ah_attr, src_path_bits));
LAYOUT(AH_STATIC_RATE, 28, offsetof(struct ibv_ah_attr, static_rate));
LAYOUT(AH_IS_GLOBAL, 29, offsetof(struct ibv_ah_attr, is_global));
LAYOUT(AH_PORT, 30, offsetof(struct ibv_ah_attr, port_num));
LAYOUT(AH_SIZE, 32, sizeof(struct ibv_ah_attr));
LAYOUT(WR_NEXT, 8, offsetof(struct ibv_send_wr, next));
LAYOUT(WR_OPCODE, 28, offsetof(struct ibv_send_wr, opcode));
LAYOUT(WR_BIND_MW, 80, offsetof(struct ibv_send_wr, bind_mw.mw));
LAYOUT(WR_BIND_RKEY, 88, offsetof(struct ibv_send_wr, bind_mw.rkey));
LAYOUT(EVENT_CHANNEL_FD, 0, offsetof(struct rdma_event_channel, fd));
LAYOUT(ID_VERBS, 0, offsetof(struct rdma_cm_id, verbs));
LAYOUT(ID_QP, 24, offsetof(struct rdma_cm_id, qp));
LAYOUT(ID_SOURCE, 32, offsetof(struct rdma_cm_id, route.addr.src_addr));
LAYOUT(ID_DESTINATION, 160, offsetof(struct rdma_cm_id, route.addr.dst_addr));
LAYOUT(ID_PORT_NUM, 348, offsetof(struct rdma_cm_id, port_num));
LAYOUT(ID_QP_TYPE, 408, offsetof(struct rdma_cm_id, qp_type));
LAYOUT(EVENT_ID, 0, offsetof(struct rdma_cm_event, id));
LAYOUT(EVENT_LISTENER, 8, offsetof(struct rdma_cm_event, listen_id));
LAYOUT(EVENT_TYPE, 16, offsetof(struct rdma_cm_event, event));
LAYOUT(EVENT_STATUS, 20, offsetof(struct rdma_cm_event, status));
LAYOUT(EVENT_PARAMETERS, 24, offsetof(struct rdma_cm_event, param));
LAYOUT(PARAMETERS_DATA, 0, offsetof(struct rdma_conn_param, private_data));
LAYOUT(PARAMETERS_DATA_LENGTH, 8, offsetof(struct rdma_conn_param, private_data_len));
LAYOUT(PARAMETERS_RESPONDER_RESOURCES, 9, offsetof(struct rdma_conn_param, responder_resources));
LAYOUT(PARAMETERS_INITIATOR_DEPTH, 10, offsetof(struct rdma_conn_param, initiator_depth));
LAYOUT(PARAMETERS_RETRY_COUNT, 12, offsetof(struct rdma_conn_param, retry_count));
LAYOUT(PARAMETERS_RNR_RETRY_COUNT, 13, offsetof(struct rdma_conn_param, rnr_retry_count));
LAYOUT(PARAMETERS_SRQ, 14, offsetof(struct rdma_conn_param, srq));
LAYOUT(PARAMETERS_QP_NUM, 16, offsetof(struct rdma_conn_param, qp_num));
LAYOUT(PARAMETERS_SIZE, 24, sizeof(struct rdma_conn_param));
LAYOUT(UD_AV, 16, offsetof(struct rdma_ud_param, ah_attr));
LAYOUT(UD_QP_NUM, 48, offsetof(struct rdma_ud_param, qp_num));
LAYOUT(UD_QKEY, 52, offsetof(struct rdma_ud_param, qkey));

/* Structures.contextAbiCompat, and that the extended context ends with the context. */
#ifdef __aarch64__
_Static_assert(sizeof(pthread_mutex_t) == 48, "mutex");
#else
_Static_assert(sizeof(pthread_mutex_t) == 40, "mutex");
#endif
_Static_assert(offsetof(struct ibv_context, abi_compat) == 280 + sizeof(pthread_mutex_t), "ABI");
_Static_assert(sizeof(struct ibv_context) == 280 + sizeof(pthread_mutex_t) + 8, "context");
_Static_assert(sizeof(struct verbs_context) ==
                   offsetof(struct verbs_context, context) + sizeof(struct ibv_context),
               "end");

/* What ConnectionEvents takes to be the same for connections and datagrams. */
_Static_assert(offsetof(struct rdma_ud_param, private_data) == 0, "data");
_Static_assert(offsetof(struct rdma_ud_param, private_data_len) == 8, "length");
_Static_assert(offsetof(struct ibv_ah_attr, grh.dgid) == 0, "GID");
_Static_assert(offsetof(struct ibv_gid_entry, gid) == 0, "GID entry");
_Static_assert(offsetof(struct ibv_device_attr, fw_ver) == 0, "firmware");
