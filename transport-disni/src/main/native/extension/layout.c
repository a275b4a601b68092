// SPDX-License-Identifier: Apache-2.0
/* Checks the numbers of Layout.java against the structures. A test compares both files. */
#include <infiniband/verbs.h>
#include <stddef.h>

#define LAYOUT(name, number, actual) _Static_assert((actual) == (number), #name)

#define SEND(field) offsetof(struct ibv_send_wr, field)
#define RECV(field) offsetof(struct ibv_recv_wr, field)
#define WC(field) offsetof(struct ibv_wc, field)

LAYOUT(SGE_ADDR, 0, offsetof(struct ibv_sge, addr));
LAYOUT(SGE_LENGTH, 8, offsetof(struct ibv_sge, length));
LAYOUT(SGE_LKEY, 12, offsetof(struct ibv_sge, lkey));
LAYOUT(SGE_SIZE, 16, sizeof(struct ibv_sge));

LAYOUT(WR_ID, 0, RECV(wr_id));
LAYOUT(WR_NEXT, 8, RECV(next));
LAYOUT(WR_SG_LIST, 16, RECV(sg_list));
LAYOUT(WR_NUM_SGE, 24, RECV(num_sge));
LAYOUT(RECV_WR_SIZE, 32, sizeof(struct ibv_recv_wr));

LAYOUT(WR_ID, 0, SEND(wr_id));
LAYOUT(WR_NEXT, 8, SEND(next));
LAYOUT(WR_SG_LIST, 16, SEND(sg_list));
LAYOUT(WR_NUM_SGE, 24, SEND(num_sge));
LAYOUT(WR_OPCODE, 28, SEND(opcode));
LAYOUT(WR_SEND_FLAGS, 32, SEND(send_flags));
LAYOUT(WR_IMM_OR_KEY, 36, SEND(imm_data));
LAYOUT(WR_IMM_OR_KEY, 36, SEND(invalidate_rkey));
LAYOUT(WR_RDMA_REMOTE_ADDR, 40, SEND(wr.rdma.remote_addr));
LAYOUT(WR_RDMA_RKEY, 48, SEND(wr.rdma.rkey));
LAYOUT(WR_ATOMIC_REMOTE_ADDR, 40, SEND(wr.atomic.remote_addr));
LAYOUT(WR_ATOMIC_COMPARE_ADD, 48, SEND(wr.atomic.compare_add));
LAYOUT(WR_ATOMIC_SWAP, 56, SEND(wr.atomic.swap));
LAYOUT(WR_ATOMIC_RKEY, 64, SEND(wr.atomic.rkey));
LAYOUT(WR_UD_AH, 40, SEND(wr.ud.ah));
LAYOUT(WR_UD_REMOTE_QPN, 48, SEND(wr.ud.remote_qpn));
LAYOUT(WR_UD_REMOTE_QKEY, 52, SEND(wr.ud.remote_qkey));
LAYOUT(WR_BIND_MW, 80, SEND(bind_mw.mw));
LAYOUT(WR_BIND_RKEY, 88, SEND(bind_mw.rkey));
LAYOUT(WR_BIND_MR, 96, SEND(bind_mw.bind_info.mr));
LAYOUT(WR_BIND_ADDR, 104, SEND(bind_mw.bind_info.addr));
LAYOUT(WR_BIND_LENGTH, 112, SEND(bind_mw.bind_info.length));
LAYOUT(WR_BIND_ACCESS, 120, SEND(bind_mw.bind_info.mw_access_flags));
LAYOUT(SEND_WR_SIZE, 128, sizeof(struct ibv_send_wr));

LAYOUT(WC_WR_ID, 0, WC(wr_id));
LAYOUT(WC_STATUS, 8, WC(status));
LAYOUT(WC_OPCODE, 12, WC(opcode));
LAYOUT(WC_VENDOR_ERR, 16, WC(vendor_err));
LAYOUT(WC_BYTE_LEN, 20, WC(byte_len));
LAYOUT(WC_IMM_OR_KEY, 24, WC(imm_data));
LAYOUT(WC_IMM_OR_KEY, 24, WC(invalidated_rkey));
LAYOUT(WC_QP_NUM, 28, WC(qp_num));
LAYOUT(WC_SRC_QP, 32, WC(src_qp));
LAYOUT(WC_FLAGS, 36, WC(wc_flags));
LAYOUT(WC_SLID, 42, WC(slid));
LAYOUT(WC_SL, 44, WC(sl));
LAYOUT(WC_SIZE, 48, sizeof(struct ibv_wc));
