// SPDX-License-Identifier: Apache-2.0
/* Queue pairs and posting. */
#include "natives.h"

/* The scatter/gather entries of a request: enough for DiSNI's own programs. DiSNI has no parameter
   for it. */
#define GATHER_WISH 4

static int create(struct rdma_cm_id *id, struct ibv_pd *domain, struct ibv_qp_init_attr *wish) {
  struct ibv_device_attr device;
  int error = error_of(ibv_query_device(id->verbs, &device));
  if (error) {
    return error;
  }
  uint32_t gather = device.max_sge < GATHER_WISH ? (uint32_t)device.max_sge : GATHER_WISH;
  wish->cap.max_send_sge = gather;
  wish->cap.max_recv_sge = gather;
  return rdma_create_qp(id, domain, wish) ? error_now() : 0;
}

DISPATCHER(jlong, createQP, jlong id_handle, jlong domain_handle, jlong send_queue,
           jlong receive_queue, jint type, jint max_send, jint max_receive, jint max_inline) {
  const char *verb = "rdma_create_qp";
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  struct ibv_pd *domain = POINTER(struct ibv_pd, domain_handle);
  struct ibv_qp_init_attr wish = {.qp_type = (enum ibv_qp_type)type,
                                  .send_cq = POINTER(struct ibv_cq, send_queue),
                                  .recv_cq = POINTER(struct ibv_cq, receive_queue)};
  if (!check(env, verb, id, IDENTIFIER) || !check(env, verb, domain, PROTECTION_DOMAIN) ||
      !check(env, verb, wish.send_cq, COMPLETION_QUEUE) ||
      !check(env, verb, wish.recv_cq, COMPLETION_QUEUE)) {
    return 0;
  }
  if (max_send < 0 || max_receive < 0 || max_inline < 0) {
    fail(env, verb, EINVAL);
    return 0;
  }
  wish.cap.max_send_wr = (uint32_t)max_send;
  wish.cap.max_recv_wr = (uint32_t)max_receive;
  wish.cap.max_inline_data = (uint32_t)max_inline;
  int error = id->verbs ? create(id, domain, &wish) : ENODEV;
  if (error) {
    fail(env, verb, error);
    return 0;
  }
  handle_add(id->qp, QUEUE_PAIR);
  return to_handle(id->qp);
}

DISPATCHER(jint, destroyQP, jlong id) {
  return -close_queue_pair_of(POINTER(struct rdma_cm_id, id));
}

/*
 * RdmaVerbsNat always passes 0 instead of the program's attributes, so there is nothing to modify
 * the queue pair with.
 */
DISPATCHER(jint, modifyQP, jlong pair, jlong attributes UNUSED) {
  if (check(env, "ibv_modify_qp", POINTER(struct ibv_qp, pair), QUEUE_PAIR)) {
    fail(env, "ibv_modify_qp", EOPNOTSUPP);
  }
  return -EOPNOTSUPP;
}

DISPATCHER(void, postSend, jlong pair_handle, jlong requests) {
  struct ibv_qp *pair = POINTER(struct ibv_qp, pair_handle);
  if (!check(env, "ibv_post_send", pair, QUEUE_PAIR)) {
    return;
  }
  struct ibv_send_wr *bad;
  int error = error_of(ibv_post_send(pair, POINTER(struct ibv_send_wr, requests), &bad));
  if (error) {
    fail(env, "ibv_post_send", error);
  }
}

DISPATCHER(void, postRecv, jlong pair_handle, jlong requests) {
  struct ibv_qp *pair = POINTER(struct ibv_qp, pair_handle);
  if (!check(env, "ibv_post_recv", pair, QUEUE_PAIR)) {
    return;
  }
  struct ibv_recv_wr *bad;
  int error = error_of(ibv_post_recv(pair, POINTER(struct ibv_recv_wr, requests), &bad));
  if (error) {
    fail(env, "ibv_post_recv", error);
  }
}

DISPATCHER(jint, getQpNum, jlong pair_handle) {
  struct ibv_qp *pair = POINTER(struct ibv_qp, pair_handle);
  return check(env, "ibv_qp.qp_num", pair, QUEUE_PAIR) ? (jint)pair->qp_num : -1;
}
