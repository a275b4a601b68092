// SPDX-License-Identifier: Apache-2.0
/* Identifiers of the connection manager, their events, and connecting with all parameters. */
#include <string.h>

#include "../common/waiting.h"
#include "addresses.h"
#include "natives.h"

EXTENSION(jint, connectionEventReady, jlong channel, jint wakeup, jint timeout) {
  return channel
             ? waiting_readable(POINTER(struct rdma_event_channel, channel)->fd, wakeup, timeout)
             : -EINVAL;
}

static void fill_connection(jlong *words, const struct rdma_conn_param *connection) {
  words[EVENT_RESPONDER_RESOURCES] = connection->responder_resources;
  words[EVENT_INITIATOR_DEPTH] = connection->initiator_depth;
  words[EVENT_RETRY_COUNT] = connection->retry_count;
  words[EVENT_RNR_RETRY_COUNT] = connection->rnr_retry_count;
  words[EVENT_PEER_QP_NUM] = connection->qp_num;
}

static void fill_datagram(jlong *words, const struct rdma_ud_param *datagram) {
  const struct ibv_global_route *route = &datagram->ah_attr.grh;
  words[EVENT_PEER_QP_NUM] = datagram->qp_num;
  words[EVENT_QUEUE_KEY] = datagram->qkey;
  words[EVENT_GID_HIGH] = gid_high(&route->dgid);
  words[EVENT_GID_LOW] = gid_low(&route->dgid);
  words[EVENT_SGID_INDEX] = route->sgid_index;
  words[EVENT_HOP_LIMIT] = route->hop_limit;
  words[EVENT_TRAFFIC_CLASS] = route->traffic_class;
  words[EVENT_FLOW_LABEL] = route->flow_label;
  words[EVENT_LID] = datagram->ah_attr.dlid;
  words[EVENT_SL] = datagram->ah_attr.sl;
}

/* Fills the words of an event. Those of the other kind of parameters become 0. */
static void fill(jlong *words, const struct rdma_cm_event *event, void *data) {
  /* The identifier of a connect request has the type of its listener. */
  bool is_datagram = event->id && event->id->qp_type == IBV_QPT_UD;
  const struct rdma_conn_param *connection = &event->param.conn;
  const struct rdma_ud_param *datagram = &event->param.ud;
  const void *source = is_datagram ? datagram->private_data : connection->private_data;
  uint8_t length = is_datagram ? datagram->private_data_len : connection->private_data_len;
  memset(words, 0, (EVENT_SL + 1) * sizeof *words);
  words[EVENT_TYPE] = event->event;
  words[EVENT_IDENTIFIER] = to_handle(event->id);
  words[EVENT_LISTENER] = to_handle(event->listen_id);
  words[EVENT_STATUS] = event->status;
  words[EVENT_PRIVATE_DATA_LENGTH] = source ? length : 0;
  if (is_datagram) {
    fill_datagram(words, datagram);
  } else {
    fill_connection(words, connection);
  }
  if (source && length) {
    memcpy(data, source, length);
  }
}

EXTENSION(jint, connectionEvent, jlong channel_handle, jlong words, jlong data) {
  struct rdma_event_channel *channel = POINTER(struct rdma_event_channel, channel_handle);
  if (!channel) {
    return -EINVAL;
  }
  int result = waiting_nonblocking(channel->fd);
  if (result) {
    return result;
  }
  struct rdma_cm_event *event;
  if (rdma_get_cm_event(channel, &event)) {
    return errno == EAGAIN ? 0 : -error_now();
  }
  fill(WORDS(words), event, POINTER(void, data));
  return rdma_ack_cm_event(event) ? -error_now() : 1;
}

EXTENSION(jint, destroyEventChannel, jlong channel) {
  if (!channel) {
    return -EINVAL;
  }
  rdma_destroy_event_channel(POINTER(struct rdma_event_channel, channel));
  return 0;
}

EXTENSION(jlong, createIdentifier, jlong channel, jshort port_space) {
  struct rdma_cm_id *id;
  if (!channel) {
    return -EINVAL;
  }
  return rdma_create_id(POINTER(struct rdma_event_channel, channel), &id, NULL,
                        (enum rdma_port_space)(uint16_t)port_space)
             ? -error_now()
             : to_handle(id);
}

EXTENSION(jint, resolveAddress, jlong identifier, jlong source, jlong destination, jint timeout) {
  if (!identifier || !destination) {
    return -EINVAL;
  }
  return rdma_resolve_addr(POINTER(struct rdma_cm_id, identifier), POINTER(struct sockaddr, source),
                           POINTER(struct sockaddr, destination), timeout)
             ? -error_now()
             : 0;
}

EXTENSION(jint, destroyIdentifier, jlong identifier) {
  if (!identifier) {
    return -EINVAL;
  }
  return rdma_destroy_id(POINTER(struct rdma_cm_id, identifier)) ? -error_now() : 0;
}

static bool fits_byte(jlong value) {
  return value >= 0 && value <= UINT8_MAX;
}

static bool read_parameters(const jlong *words, struct rdma_conn_param *parameters) {
  if (!fits_byte(words[PARAMETER_PRIVATE_DATA_LENGTH]) ||
      !fits_byte(words[PARAMETER_RESPONDER_RESOURCES]) ||
      !fits_byte(words[PARAMETER_INITIATOR_DEPTH]) || !fits_byte(words[PARAMETER_RETRY_COUNT]) ||
      !fits_byte(words[PARAMETER_RNR_RETRY_COUNT]) ||
      (words[PARAMETER_PRIVATE_DATA_LENGTH] && !words[PARAMETER_PRIVATE_DATA])) {
    return false;
  }
  *parameters =
      (struct rdma_conn_param){.private_data = POINTER(void, words[PARAMETER_PRIVATE_DATA]),
                               .private_data_len = (uint8_t)words[PARAMETER_PRIVATE_DATA_LENGTH],
                               .responder_resources = (uint8_t)words[PARAMETER_RESPONDER_RESOURCES],
                               .initiator_depth = (uint8_t)words[PARAMETER_INITIATOR_DEPTH],
                               .retry_count = (uint8_t)words[PARAMETER_RETRY_COUNT],
                               .rnr_retry_count = (uint8_t)words[PARAMETER_RNR_RETRY_COUNT],
                               .srq = words[PARAMETER_SRQ] != 0,
                               .qp_num = (uint32_t)words[PARAMETER_QP_NUM]};
  return true;
}

/* Checks and reads the arguments of connect and accept. Returns 0 or an errno. */
static int prepare(const struct rdma_cm_id *id, jlong words, struct rdma_conn_param *parameters) {
  if (!id || !read_parameters(WORDS(words), parameters)) {
    return EINVAL;
  }
  /* librdmacm dereferences id->verbs without a check. */
  return id->verbs ? 0 : ENODEV;
}

EXTENSION(jint, connect, jlong identifier, jlong words) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, identifier);
  struct rdma_conn_param parameters;
  int error = prepare(id, words, &parameters);
  if (error) {
    return -error;
  }
  return rdma_connect(id, &parameters) ? -error_now() : 0;
}

EXTENSION(jint, accept, jlong identifier, jlong words) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, identifier);
  struct rdma_conn_param parameters;
  int error = prepare(id, words, &parameters);
  if (error) {
    return -error;
  }
  return rdma_accept(id, &parameters) ? -error_now() : 0;
}

EXTENSION(jint, establish, jlong identifier) {
  if (!identifier) {
    return -EINVAL;
  }
  return rdma_establish(POINTER(struct rdma_cm_id, identifier)) ? -error_now() : 0;
}

/* As librdmacm's init_ece and ucma_process_conn_resp_ece. A driver without
   ECE, or without the peer's options, is no error; a driver that refuses the peer is. */
EXTENSION(jint, negotiate, jlong identifier, jlong pair_handle) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, identifier);
  struct ibv_qp *pair = POINTER(struct ibv_qp, pair_handle);
  struct ibv_ece own = {0}, peer = {0};
  if (!id || !pair) {
    return -EINVAL;
  }
  if (ibv_query_ece(pair, &own) || !own.vendor_id) {
    return 0;
  }
  if (!rdma_get_remote_ece(id, &peer) && peer.vendor_id) {
    int error = error_of(ibv_set_ece(pair, &peer));
    if (error == ECONNREFUSED) {
      return -error;
    }
    own.options = error ? own.options : peer.options;
  }
  return rdma_set_local_ece(id, &own) ? -error_now() : 0;
}

EXTENSION(jint, reject, jlong identifier, jlong data, jint length) {
  if (!identifier || !fits_byte(length) || (length && !data)) {
    return -EINVAL;
  }
  return rdma_reject(POINTER(struct rdma_cm_id, identifier), POINTER(void, data), (uint8_t)length)
             ? -error_now()
             : 0;
}

static size_t address_size(int family) {
  switch (family) {
    case AF_INET:
      return sizeof(struct sockaddr_in);
    case AF_INET6:
      return sizeof(struct sockaddr_in6);
    default:
      return 0;
  }
}

EXTENSION(jint, socketAddress, jlong identifier, jboolean peer, jlong target) {
  struct rdma_cm_id *id = POINTER(struct rdma_cm_id, identifier);
  if (!id) {
    return -EINVAL;
  }
  const struct sockaddr *address = peer ? rdma_get_peer_addr(id) : rdma_get_local_addr(id);
  size_t size = address_size(address->sa_family);
  if (!size) {
    return address->sa_family ? -EAFNOSUPPORT : 0;
  }
  memcpy(POINTER(void, target), address, size);
  return address->sa_family;
}

EXTENSION(jint, typeOfService, jlong identifier, jint value) {
  uint8_t tos = (uint8_t)value;
  if (!identifier || !fits_byte(value)) {
    return -EINVAL;
  }
  return rdma_set_option(POINTER(struct rdma_cm_id, identifier), RDMA_OPTION_ID,
                         RDMA_OPTION_ID_TOS, &tos, sizeof tos)
             ? -error_now()
             : 0;
}

EXTENSION(jlong, contextOf, jlong identifier) {
  return identifier ? to_handle(POINTER(struct rdma_cm_id, identifier)->verbs) : 0;
}

EXTENSION(jint, portOf, jlong identifier) {
  return identifier ? POINTER(struct rdma_cm_id, identifier)->port_num : 0;
}
