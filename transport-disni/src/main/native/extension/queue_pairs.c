// SPDX-License-Identifier: Apache-2.0
/* Queue pairs and posting. */
#include <string.h>

#include "addresses.h"
#include "natives.h"

/* The attributes to query with ibv_query_qp(3). */
#define ALL_ATTRIBUTES                                                                            \
  (IBV_QP_STATE | IBV_QP_CUR_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY | IBV_QP_ACCESS_FLAGS |           \
   IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_TIMEOUT | \
   IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_RQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC |                \
   IBV_QP_MIN_RNR_TIMER | IBV_QP_SQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_DEST_QPN)

static struct ibv_qp_init_attr wish_of(const jlong *words) {
  return (struct ibv_qp_init_attr){
      .qp_type = (enum ibv_qp_type)words[QUEUE_PAIR_TYPE],
      .send_cq = POINTER(struct ibv_cq, words[QUEUE_PAIR_SEND_CQ]),
      .recv_cq = POINTER(struct ibv_cq, words[QUEUE_PAIR_RECV_CQ]),
      .srq = POINTER(struct ibv_srq, words[QUEUE_PAIR_SRQ]),
      .sq_sig_all = words[QUEUE_PAIR_SQ_SIG_ALL] != 0,
      .cap = {.max_send_wr = (uint32_t)words[QUEUE_PAIR_MAX_SEND_WR],
              .max_recv_wr = (uint32_t)words[QUEUE_PAIR_MAX_RECV_WR],
              .max_send_sge = (uint32_t)words[QUEUE_PAIR_MAX_SEND_SGE],
              .max_recv_sge = (uint32_t)words[QUEUE_PAIR_MAX_RECV_SGE],
              .max_inline_data = (uint32_t)words[QUEUE_PAIR_MAX_INLINE_DATA]}};
}

static jlong created(const struct ibv_qp *pair, const struct ibv_qp_cap *granted, jlong *words) {
  words[QUEUE_PAIR_MAX_SEND_WR] = granted->max_send_wr;
  words[QUEUE_PAIR_MAX_RECV_WR] = granted->max_recv_wr;
  words[QUEUE_PAIR_MAX_SEND_SGE] = granted->max_send_sge;
  words[QUEUE_PAIR_MAX_RECV_SGE] = granted->max_recv_sge;
  words[QUEUE_PAIR_MAX_INLINE_DATA] = granted->max_inline_data;
  words[QUEUE_PAIR_QP_NUM] = pair->qp_num;
  return to_handle(pair);
}

EXTENSION(jlong, createQueuePair, jlong domain, jlong words_address) {
  jlong *words = WORDS(words_address);
  struct ibv_qp_init_attr wish = wish_of(words);
  if (!domain || !wish.send_cq || !wish.recv_cq) {
    return -EINVAL;
  }
  /* libsiw fails without setting errno. */
  errno = 0;
  struct ibv_qp *pair = ibv_create_qp(POINTER(struct ibv_pd, domain), &wish);
  return pair ? created(pair, &wish.cap, words) : -error_now();
}

EXTENSION(jlong, createConnectionQueuePair, jlong identifier, jlong domain, jlong words_address) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, identifier);
  jlong *words = WORDS(words_address);
  struct ibv_qp_init_attr wish = wish_of(words);
  /* Without completion queues librdmacm would create its own. */
  if (!id || !domain || !wish.send_cq || !wish.recv_cq) {
    return -EINVAL;
  }
  if (!id->verbs) {
    return -ENODEV;
  }
  if (rdma_create_qp(id, POINTER(struct ibv_pd, domain), &wish)) {
    return -error_now();
  }
  return created(id->qp, &wish.cap, words);
}

EXTENSION(jint, destroyQueuePair, jlong pair) {
  return pair ? -error_of(ibv_destroy_qp(POINTER(struct ibv_qp, pair))) : -EINVAL;
}

EXTENSION(jint, destroyConnectionQueuePair, jlong identifier) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, identifier);
  if (!id || !id->qp) {
    return -EINVAL;
  }
  /* rdma_destroy_qp(3) does not return whether it worked. */
  int error = error_of(ibv_destroy_qp(id->qp));
  if (!error) {
    id->qp = NULL;
  }
  return -error;
}

EXTENSION(jint, modifyQueuePair, jlong pair, jlong words_address) {
  const jlong *words = WORDS(words_address);
  if (!pair) {
    return -EINVAL;
  }
  int mask = (int)words[ATTRIBUTE_MASK];
  struct ibv_qp_attr attributes = {
      .qp_state = (enum ibv_qp_state)words[ATTRIBUTE_STATE],
      .cur_qp_state = (enum ibv_qp_state)words[ATTRIBUTE_CUR_STATE],
      .en_sqd_async_notify = words[ATTRIBUTE_EN_SQD_ASYNC_NOTIFY] != 0,
      .qp_access_flags = (unsigned)words[ATTRIBUTE_ACCESS_FLAGS],
      .pkey_index = (uint16_t)words[ATTRIBUTE_PKEY_INDEX],
      .port_num = (uint8_t)words[ATTRIBUTE_PORT],
      .qkey = (uint32_t)words[ATTRIBUTE_QKEY],
      .ah_attr = {.grh = {.dgid = gid_of(words[ATTRIBUTE_AV_GID_HIGH], words[ATTRIBUTE_AV_GID_LOW]),
                          .sgid_index = (uint8_t)words[ATTRIBUTE_AV_SGID_INDEX],
                          .hop_limit = (uint8_t)words[ATTRIBUTE_AV_HOP_LIMIT],
                          .traffic_class = (uint8_t)words[ATTRIBUTE_AV_TRAFFIC_CLASS],
                          .flow_label = (uint32_t)words[ATTRIBUTE_AV_FLOW_LABEL]},
                  .is_global = words[ATTRIBUTE_AV_IS_GLOBAL] != 0,
                  .dlid = (uint16_t)words[ATTRIBUTE_AV_LID],
                  .sl = (uint8_t)words[ATTRIBUTE_AV_SL],
                  .src_path_bits = (uint8_t)words[ATTRIBUTE_AV_SRC_PATH_BITS],
                  .static_rate = (uint8_t)words[ATTRIBUTE_AV_STATIC_RATE],
                  .port_num = (uint8_t)words[ATTRIBUTE_AV_PORT]},
      .path_mtu = (enum ibv_mtu)words[ATTRIBUTE_PATH_MTU],
      .timeout = (uint8_t)words[ATTRIBUTE_TIMEOUT],
      .retry_cnt = (uint8_t)words[ATTRIBUTE_RETRY_CNT],
      .rnr_retry = (uint8_t)words[ATTRIBUTE_RNR_RETRY],
      .rq_psn = (uint32_t)words[ATTRIBUTE_RQ_PSN],
      .max_rd_atomic = (uint8_t)words[ATTRIBUTE_MAX_QP_RD_ATOMIC],
      .min_rnr_timer = (uint8_t)words[ATTRIBUTE_MIN_RNR_TIMER],
      .sq_psn = (uint32_t)words[ATTRIBUTE_SQ_PSN],
      .max_dest_rd_atomic = (uint8_t)words[ATTRIBUTE_MAX_DEST_RD_ATOMIC],
      .dest_qp_num = (uint32_t)words[ATTRIBUTE_DEST_QPN]};
  return -error_of(ibv_modify_qp(POINTER(struct ibv_qp, pair), &attributes, mask));
}

static void fill_attributes(const struct ibv_qp_attr *attributes, int mask, jlong *words) {
  const struct ibv_ah_attr *vector = &attributes->ah_attr;
  const struct ibv_global_route *route = &vector->grh;
  words[ATTRIBUTE_MASK] = mask;
  words[ATTRIBUTE_STATE] = attributes->qp_state;
  words[ATTRIBUTE_CUR_STATE] = attributes->cur_qp_state;
  words[ATTRIBUTE_EN_SQD_ASYNC_NOTIFY] = attributes->en_sqd_async_notify;
  words[ATTRIBUTE_ACCESS_FLAGS] = attributes->qp_access_flags;
  words[ATTRIBUTE_PKEY_INDEX] = attributes->pkey_index;
  words[ATTRIBUTE_PORT] = attributes->port_num;
  words[ATTRIBUTE_QKEY] = attributes->qkey;
  words[ATTRIBUTE_AV_GID_HIGH] = gid_high(&route->dgid);
  words[ATTRIBUTE_AV_GID_LOW] = gid_low(&route->dgid);
  words[ATTRIBUTE_AV_SGID_INDEX] = route->sgid_index;
  words[ATTRIBUTE_AV_HOP_LIMIT] = route->hop_limit;
  words[ATTRIBUTE_AV_TRAFFIC_CLASS] = route->traffic_class;
  words[ATTRIBUTE_AV_FLOW_LABEL] = route->flow_label;
  words[ATTRIBUTE_AV_IS_GLOBAL] = vector->is_global;
  words[ATTRIBUTE_AV_LID] = vector->dlid;
  words[ATTRIBUTE_AV_SL] = vector->sl;
  words[ATTRIBUTE_AV_SRC_PATH_BITS] = vector->src_path_bits;
  words[ATTRIBUTE_AV_STATIC_RATE] = vector->static_rate;
  words[ATTRIBUTE_AV_PORT] = vector->port_num;
  words[ATTRIBUTE_PATH_MTU] = attributes->path_mtu;
  words[ATTRIBUTE_TIMEOUT] = attributes->timeout;
  words[ATTRIBUTE_RETRY_CNT] = attributes->retry_cnt;
  words[ATTRIBUTE_RNR_RETRY] = attributes->rnr_retry;
  words[ATTRIBUTE_RQ_PSN] = attributes->rq_psn;
  words[ATTRIBUTE_MAX_QP_RD_ATOMIC] = attributes->max_rd_atomic;
  words[ATTRIBUTE_MIN_RNR_TIMER] = attributes->min_rnr_timer;
  words[ATTRIBUTE_SQ_PSN] = attributes->sq_psn;
  words[ATTRIBUTE_MAX_DEST_RD_ATOMIC] = attributes->max_dest_rd_atomic;
  words[ATTRIBUTE_DEST_QPN] = attributes->dest_qp_num;
}

EXTENSION(jint, queryQueuePair, jlong pair, jlong words) {
  if (!pair) {
    return -EINVAL;
  }
  struct ibv_qp_attr attributes;
  struct ibv_qp_init_attr unused;
  memset(&attributes, 0, sizeof attributes);
  int error = error_of(
      ibv_query_qp(POINTER(struct ibv_qp, pair), &attributes, ALL_ATTRIBUTES, &unused));
  if (!error) {
    fill_attributes(&attributes, ALL_ATTRIBUTES, WORDS(words));
  }
  return -error;
}

EXTENSION(jint, connectionAttributes, jlong identifier, jint state, jlong words) {
  if (!identifier) {
    return -EINVAL;
  }
  struct ibv_qp_attr attributes;
  int mask;
  memset(&attributes, 0, sizeof attributes);
  attributes.qp_state = (enum ibv_qp_state)state;
  if (rdma_init_qp_attr(POINTER(struct rdma_cm_id, identifier), &attributes, &mask)) {
    return -error_now();
  }
  fill_attributes(&attributes, mask, WORDS(words));
  return 0;
}

/* A driver takes the window's current key for a bind from ibv_mw.rkey, which only the program
   updates. So the requests after a bind are posted in a call of their own, after the new key is
   stored. */
static int post_up_to_binds(struct ibv_qp *pair, struct ibv_send_wr *first,
                            struct ibv_send_wr **refused) {
  int error = 0;
  while (first && !error) {
    struct ibv_send_wr *last = first;
    while (last->next && last->opcode != IBV_WR_BIND_MW) {
      last = last->next;
    }
    struct ibv_send_wr *rest = last->next;
    last->next = NULL;
    /* A driver without the operation (libibverbs' dummies) fails without setting bad_wr. */
    *refused = first;
    error = error_of(ibv_post_send(pair, first, refused));
    last->next = rest;
    if (!error && last->opcode == IBV_WR_BIND_MW) {
      last->bind_mw.mw->rkey = last->bind_mw.rkey;
    }
    first = rest;
  }
  return error;
}

EXTENSION(jint, postSend, jlong pair, jlong requests, jlong bad) {
  if (!pair) {
    return -EINVAL;
  }
  struct ibv_send_wr *refused = NULL;
  int error = post_up_to_binds(POINTER(struct ibv_qp, pair),
                               POINTER(struct ibv_send_wr, requests), &refused);
  if (bad) {
    *WORDS(bad) = error ? to_handle(refused) : 0;
  }
  return -error;
}

EXTENSION(jint, bindWindow, jlong pair, jlong window, jlong id, jint flags, jlong region,
          jlong address, jlong length, jint access) {
  /* librxe reads the region even if the bind has length 0. */
  if (!pair || !window || !region) {
    return -EINVAL;
  }
  struct ibv_mw_bind bind = {.wr_id = (uint64_t)id,
                             .send_flags = (unsigned)flags,
                             .bind_info = {.mr = POINTER(struct ibv_mr, region),
                                           .addr = (uint64_t)address,
                                           .length = (uint64_t)length,
                                           .mw_access_flags = (unsigned)access}};
  return -error_of(
      ibv_bind_mw(POINTER(struct ibv_qp, pair), POINTER(struct ibv_mw, window), &bind));
}

EXTENSION(jint, postOneSend, jlong pair, jlong id, jint opcode, jint flags, jlong remote_address,
          jint remote_key, jlong address, jint length, jint key) {
  if (!pair) {
    return -EINVAL;
  }
  struct ibv_sge entry = {
      .addr = (uint64_t)address, .length = (uint32_t)length, .lkey = (uint32_t)key};
  struct ibv_send_wr request = {
      .wr_id = (uint64_t)id,
      .sg_list = &entry,
      .num_sge = 1,
      .opcode = (enum ibv_wr_opcode)opcode,
      .send_flags = (unsigned)flags,
      .wr.rdma = {.remote_addr = (uint64_t)remote_address, .rkey = (uint32_t)remote_key}};
  struct ibv_send_wr *refused;
  return -error_of(ibv_post_send(POINTER(struct ibv_qp, pair), &request, &refused));
}

EXTENSION(jint, postReceive, jlong pair, jlong requests, jlong bad) {
  if (!pair) {
    return -EINVAL;
  }
  struct ibv_recv_wr *refused = POINTER(struct ibv_recv_wr, requests);
  int error = error_of(ibv_post_recv(POINTER(struct ibv_qp, pair),
                                     POINTER(struct ibv_recv_wr, requests), &refused));
  if (bad) {
    *WORDS(bad) = error ? to_handle(refused) : 0;
  }
  return -error;
}

EXTENSION(jint, postOneReceive, jlong pair, jlong id, jlong address, jint length, jint key) {
  if (!pair) {
    return -EINVAL;
  }
  struct ibv_sge entry = {
      .addr = (uint64_t)address, .length = (uint32_t)length, .lkey = (uint32_t)key};
  struct ibv_recv_wr request = {.wr_id = (uint64_t)id, .sg_list = &entry, .num_sge = 1};
  struct ibv_recv_wr *refused;
  return -error_of(ibv_post_recv(POINTER(struct ibv_qp, pair), &request, &refused));
}
