// SPDX-License-Identifier: Apache-2.0
/* Identifiers of the connection manager: addresses, routes, connections. */
#include <string.h>

#include "natives.h"

/* Both counts have 3 bits. For RNR, 7 means without limit; for a lost packet, 7 is the maximum. */
#define RETRIES_MAX 7

DISPATCHER(jlong, createId, jlong channel_handle, jshort port_space) {
  struct rdma_event_channel *channel = POINTER(struct rdma_event_channel, channel_handle);
  if (!check(env, "rdma_create_id", channel, EVENT_CHANNEL)) {
    return 0;
  }
  struct rdma_cm_id *id;
  if (rdma_create_id(channel, &id, NULL, (enum rdma_port_space)(uint16_t)port_space)) {
    fail(env, "rdma_create_id", error_now());
    return 0;
  }
  handle_add(id, IDENTIFIER);
  return to_handle(id);
}

DISPATCHER(jint, destroyCmId, jlong id) {
  return -close_identifier(POINTER(struct rdma_cm_id, id));
}

DISPATCHER(jint, destroyEp, jlong id) {
  return -close_identifier(POINTER(struct rdma_cm_id, id));
}

DISPATCHER(void, bindAddr, jlong id_handle, jlong address) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  if (check(env, "rdma_bind_addr", id, IDENTIFIER) &&
      rdma_bind_addr(id, POINTER(struct sockaddr, address))) {
    fail(env, "rdma_bind_addr", error_now());
  }
}

DISPATCHER(void, listen, jlong id_handle, jint backlog) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  if (check(env, "rdma_listen", id, IDENTIFIER) && rdma_listen(id, backlog)) {
    fail(env, "rdma_listen", error_now());
  }
}

DISPATCHER(void, resolveAddr, jlong id_handle, jlong source, jlong destination, jint timeout) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  if (check(env, "rdma_resolve_addr", id, IDENTIFIER) &&
      rdma_resolve_addr(id, POINTER(struct sockaddr, source),
                        POINTER(struct sockaddr, destination), timeout)) {
    fail(env, "rdma_resolve_addr", error_now());
  }
}

/*
 * Returns whether the identifier has a device, which librdmacm dereferences without a check from
 * rdma_resolve_route(3) on. If not, throws ENODEV.
 */
static bool check_device(JNIEnv *env, const char *verb, const struct rdma_cm_id *id) {
  if (!check(env, verb, id, IDENTIFIER)) {
    return false;
  }
  if (!id->verbs) {
    fail(env, verb, ENODEV);
    return false;
  }
  return true;
}

DISPATCHER(void, resolveRoute, jlong id_handle, jint timeout) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  if (check_device(env, "rdma_resolve_route", id) && rdma_resolve_route(id, timeout)) {
    fail(env, "rdma_resolve_route", error_now());
  }
}

/*
 * DiSNI's RdmaConnParam has 0 for both counts by default, and DiSNI's groups pass it unchanged.
 * With 0, the first lost packet, or the first message without a receive, ends the connection. So 0
 * counts as "not set" and becomes 7. A program cannot ask for no retries.
 */
static uint8_t retries(jint chosen) {
  return chosen ? (uint8_t)chosen : RETRIES_MAX;
}

static bool are_retries(jint count) {
  return count >= 0 && count <= RETRIES_MAX;
}

/* Asks for as many outstanding READs and atomics as the device allows, because DiSNI has no
   parameter for it. */
static struct rdma_conn_param parameters(jint retry_count, jint rnr_retry_count) {
  return (struct rdma_conn_param){.responder_resources = RDMA_MAX_RESP_RES,
                                  .initiator_depth = RDMA_MAX_INIT_DEPTH,
                                  .retry_count = retries(retry_count),
                                  .rnr_retry_count = retries(rnr_retry_count)};
}

DISPATCHER(void, connect, jlong id_handle, jint retry_count, jint rnr_retry_count, jlong data,
           jbyte length) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  if (!check_device(env, "rdma_connect", id)) {
    return;
  }
  if (!are_retries(retry_count) || !are_retries(rnr_retry_count) || (length && !data)) {
    fail(env, "rdma_connect", EINVAL);
    return;
  }
  struct rdma_conn_param wish = parameters(retry_count, rnr_retry_count);
  wish.private_data = POINTER(void, data);
  wish.private_data_len = data ? (uint8_t)length : 0;
  if (rdma_connect(id, &wish)) {
    fail(env, "rdma_connect", error_now());
  }
}

DISPATCHER(void, accept, jlong id_handle, jint retry_count, jint rnr_retry_count) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  if (!check_device(env, "rdma_accept", id)) {
    return;
  }
  if (!are_retries(retry_count) || !are_retries(rnr_retry_count)) {
    fail(env, "rdma_accept", EINVAL);
    return;
  }
  struct rdma_conn_param wish = parameters(retry_count, rnr_retry_count);
  if (rdma_accept(id, &wish)) {
    fail(env, "rdma_accept", error_now());
  }
}

DISPATCHER(jint, disconnect, jlong id_handle) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  if (!handle_usable(id, IDENTIFIER)) {
    return -EBADF;
  }
  if (!id->verbs) {
    return -ENODEV;
  }
  return rdma_disconnect(id) ? -error_now() : 0;
}

/* DiSNI has room for IPv4 only; for other families, returns -EAFNOSUPPORT. */
static jint copy_address(const struct sockaddr *address, jlong target) {
  if (!target) {
    return -EINVAL;
  }
  if (address->sa_family != AF_INET) {
    return -EAFNOSUPPORT;
  }
  memcpy(POINTER(void, target), address, sizeof(struct sockaddr_in));
  return 0;
}

DISPATCHER(jint, getSrcAddr, jlong id_handle, jlong target) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  return handle_usable(id, IDENTIFIER) ? copy_address(rdma_get_local_addr(id), target) : -EBADF;
}

DISPATCHER(jint, getDstAddr, jlong id_handle, jlong target) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  return handle_usable(id, IDENTIFIER) ? copy_address(rdma_get_peer_addr(id), target) : -EBADF;
}

/* A listener on all addresses has no context. */
DISPATCHER(jlong, getContext, jlong id_handle) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, id_handle);
  return check_device(env, "rdma_cm_id.verbs", id) ? to_handle(id->verbs) : 0;
}
