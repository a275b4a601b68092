// SPDX-License-Identifier: Apache-2.0
/* Sizes and offsets of the structures that DiSNI writes and reads in Java, and fields of the
   context. */
#include <netinet/in.h>
#include <stddef.h>

#include "natives.h"

/* The version that NativeDispatcher of DiSNI 2.1 expects. */
#define DISNI_VERSION 32

DISPATCHER(jint, getVersion) {
  return DISNI_VERSION;
}

DISPATCHER(jint, getSockAddrInSize) {
  return sizeof(struct sockaddr_in);
}

DISPATCHER(jint, getIbvRecvWRSize) {
  return sizeof(struct ibv_recv_wr);
}

DISPATCHER(jint, getIbvSendWRSize) {
  return sizeof(struct ibv_send_wr);
}

DISPATCHER(jint, getIbvSgeSize) {
  return sizeof(struct ibv_sge);
}

DISPATCHER(jint, getIbvWCSize) {
  return sizeof(struct ibv_wc);
}

DISPATCHER(jint, getRemoteAddressOffset) {
  return offsetof(struct ibv_send_wr, wr.rdma.remote_addr);
}

DISPATCHER(jint, getRKeyOffset) {
  return offsetof(struct ibv_send_wr, wr.rdma.rkey);
}

/* Checks for NULL only: this library never closes a context, so no pointer is stale. */
static const struct ibv_context *context_of(JNIEnv *env, const char *field, jlong context) {
  if (!context) {
    fail(env, field, ENODEV);
  }
  return POINTER(const struct ibv_context, context);
}

DISPATCHER(jint, getContextFd, jlong handle) {
  const struct ibv_context *context = context_of(env, "ibv_context.cmd_fd", handle);
  return context ? context->cmd_fd : -1;
}

DISPATCHER(jint, getContextNumCompVectors, jlong handle) {
  const struct ibv_context *context = context_of(env, "ibv_context.num_comp_vectors", handle);
  return context ? context->num_comp_vectors : -1;
}
