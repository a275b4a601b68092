// SPDX-License-Identifier: Apache-2.0
/* Shared receive queues. */
#include "natives.h"

static void fill(jlong *words, const struct ibv_srq_attr *attributes) {
  words[SHARED_RECEIVE_MAX_WR] = attributes->max_wr;
  words[SHARED_RECEIVE_MAX_SGE] = attributes->max_sge;
  words[SHARED_RECEIVE_LIMIT] = attributes->srq_limit;
}

EXTENSION(jlong, createSharedReceiveQueue, jlong domain, jlong words_address) {
  if (!domain) {
    return -EINVAL;
  }
  jlong *words = WORDS(words_address);
  struct ibv_srq_init_attr wish = {.attr = {.max_wr = (uint32_t)words[SHARED_RECEIVE_MAX_WR],
                                            .max_sge = (uint32_t)words[SHARED_RECEIVE_MAX_SGE]}};
  /* libsiw fails without setting errno. */
  errno = 0;
  struct ibv_srq *queue = ibv_create_srq(POINTER(struct ibv_pd, domain), &wish);
  if (!queue) {
    return -error_now();
  }
  fill(words, &wish.attr);
  return to_handle(queue);
}

EXTENSION(jint, limitSharedReceiveQueue, jlong queue, jint limit) {
  if (!queue || limit < 0) {
    return -EINVAL;
  }
  struct ibv_srq_attr attributes = {.srq_limit = (uint32_t)limit};
  return -error_of(ibv_modify_srq(POINTER(struct ibv_srq, queue), &attributes, IBV_SRQ_LIMIT));
}

EXTENSION(jint, querySharedReceiveQueue, jlong queue, jlong words) {
  if (!queue) {
    return -EINVAL;
  }
  struct ibv_srq_attr attributes;
  int error = error_of(ibv_query_srq(POINTER(struct ibv_srq, queue), &attributes));
  if (!error) {
    fill(WORDS(words), &attributes);
  }
  return -error;
}

EXTENSION(jint, destroySharedReceiveQueue, jlong queue) {
  return queue ? -error_of(ibv_destroy_srq(POINTER(struct ibv_srq, queue))) : -EINVAL;
}

EXTENSION(jint, postSharedReceive, jlong queue, jlong requests, jlong bad) {
  if (!queue) {
    return -EINVAL;
  }
  struct ibv_recv_wr *refused = POINTER(struct ibv_recv_wr, requests);
  int error = error_of(ibv_post_srq_recv(POINTER(struct ibv_srq, queue),
                                         POINTER(struct ibv_recv_wr, requests), &refused));
  if (bad) {
    *WORDS(bad) = error ? to_handle(refused) : 0;
  }
  return -error;
}
