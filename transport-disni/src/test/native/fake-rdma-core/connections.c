// SPDX-License-Identifier: Apache-2.0
/* The connection manager: identifiers of one process, their events, and how they come to be connected. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define RETRY_NANOS 100000000LL
#define FIRST_EPHEMERAL 32768

/* enum ib_cm_rej_reason */
enum { REJECT_INVALID_SERVICE_ID = 8, REJECT_CONSUMER_DEFINED = 28 };

enum state {
  IDLE,
  BOUND,
  LISTENING,
  ADDRESSED,
  ROUTED,
  /* The caller: asks again until the backlog has room, has asked, was answered. */
  ASKING,
  ASKED,
  ANSWERED,
  /* The callee. */
  REQUESTED,
  ACCEPTED,
  CONNECTED,
  DISCONNECTING,
  DISCONNECTED,
  ENDED
};

struct fake_id {
  struct rdma_cm_id id;
  struct fake_id *next, *peer, *listener;
  enum state state;
  /* Of its queue pair, once it asked or answered. */
  uint32_t qp_num;
  bool reuses_address;
  /* A request that the program has not taken: it goes with the channel. */
  bool is_untold;
  uint8_t tos;
  int backlog, pending;
  struct rdma_conn_param wish;
  struct ibv_ece local_ece, remote_ece;
  uint8_t data[256];
  int events_told, events_completed;
};

struct fake_events {
  struct rdma_event_channel channel;
  struct events events;
};

static struct fake_id *identifiers;
static uint16_t last_port = FIRST_EPHEMERAL;

static int answer(int error) {
  errno = error;
  return error ? -1 : 0;
}

/* ---- addresses */

static uint16_t *port_of(struct sockaddr *address) {
  return address->sa_family == AF_INET6 ? &((struct sockaddr_in6 *)address)->sin6_port
                                        : &((struct sockaddr_in *)address)->sin_port;
}

static union ibv_gid gid_of(const struct sockaddr *address) {
  union ibv_gid gid = {0};
  if (address->sa_family == AF_INET6) {
    memcpy(gid.raw, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof gid.raw);
  } else {
    gid.raw[10] = gid.raw[11] = 0xff;
    memcpy(gid.raw + 12, &((const struct sockaddr_in *)address)->sin_addr, 4);
  }
  return gid;
}

static bool is_any(const struct sockaddr *address) {
  union ibv_gid gid = gid_of(address), any4 = {.raw = {[10] = 0xff, [11] = 0xff}}, any6 = {0};
  return !memcmp(&gid, &any4, sizeof gid) || !memcmp(&gid, &any6, sizeof gid);
}

static size_t size_of(const struct sockaddr *address) {
  return address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static bool is_same_host(const struct sockaddr *one, const struct sockaddr *other) {
  union ibv_gid a = gid_of(one), b = gid_of(other);
  return !memcmp(&a, &b, sizeof a);
}

/* As cma_check_linklocal: without a scope it is no address. */
static bool lacks_scope(const struct sockaddr *address) {
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)address;
  return address->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six->sin6_addr) &&
         !six->sin6_scope_id;
}

static bool bind_device(struct fake_id *id, const struct sockaddr *address) {
  union ibv_gid gid = gid_of(address);
  int index;
  struct device *device = device_at(&gid, &id->id.port_num, &index);
  if (device && !id->id.verbs) {
    id->id.verbs = context_use(device);
  }
  return device;
}

/* A device of the same network: 24 bits of IPv4, 64 of IPv6. */
static struct device *near(const struct sockaddr *address, union ibv_gid *own) {
  union ibv_gid gid = gid_of(address);
  size_t bytes = address->sa_family == AF_INET6 ? 8 : 15;
  for (int i = 0; i < MAX_DEVICES; i++) {
    for (int p = 0; devices[i] && p < devices[i]->profile->attr.phys_port_cnt; p++) {
      for (int g = 0; g < MAX_GIDS; g++) {
        const struct gid *have = &devices[i]->profile->gids[p][g];
        if (have->set && !memcmp(&have->gid, &gid, bytes)) {
          *own = have->gid;
          return devices[i];
        }
      }
    }
  }
  return NULL;
}

static void set_address(struct sockaddr_storage *target, const struct sockaddr *like,
                        const union ibv_gid *gid) {
  memset(target, 0, sizeof *target);
  target->ss_family = like->sa_family;
  if (like->sa_family == AF_INET6) {
    memcpy(&((struct sockaddr_in6 *)target)->sin6_addr, gid->raw, sizeof gid->raw);
  } else {
    memcpy(&((struct sockaddr_in *)target)->sin_addr, gid->raw + 12, 4);
  }
}

static bool is_taken(const struct fake_id *by, struct sockaddr *address) {
  for (struct fake_id *id = identifiers; id; id = id->next) {
    struct sockaddr *have = &id->id.route.addr.src_addr;
    if (id != by && (id->state == LISTENING || id->state == BOUND) &&
        *port_of(have) == *port_of(address) && !(id->reuses_address && by->reuses_address) &&
        (is_any(have) || is_any(address) || is_same_host(have, address))) {
      return true;
    }
  }
  return false;
}

static void give_port(struct fake_id *id) {
  uint16_t *port = port_of(&id->id.route.addr.src_addr);
  while (!*port || is_taken(id, &id->id.route.addr.src_addr)) {
    last_port = last_port == UINT16_MAX ? FIRST_EPHEMERAL : last_port + 1;
    *port = htons(last_port);
  }
}

/* ---- events */

static struct events *events_of(const struct fake_id *id) {
  return &((struct fake_events *)id->id.channel)->events;
}

static struct event *event_for(struct fake_id *id, enum rdma_cm_event_type type, int status) {
  struct event *event = calloc(1, sizeof *event);
  cm_event_turns(&type, &status);
  event->object = id;
  event->cm.id = &id->id;
  event->cm.event = type;
  event->cm.status = status;
  return event;
}

static void raise_cm(struct fake_id *id, enum rdma_cm_event_type type, int status) {
  events_add(events_of(id), event_for(id, type, status));
}

/* The words of the peer, as the receiver reads them. */
static void raise_with(struct fake_id *id, struct fake_id *listener, enum rdma_cm_event_type type,
                       const struct fake_id *from) {
  struct event *event = event_for(id, type, 0);
  event->cm.listen_id = listener ? &listener->id : NULL;
  event->cm.param.conn = from->wish;
  event->cm.param.conn.responder_resources = from->wish.initiator_depth;
  event->cm.param.conn.initiator_depth = from->wish.responder_resources;
  event->cm.param.conn.qp_num = from->qp_num;
  memcpy(event->data, from->data, sizeof event->data);
  event->cm.param.conn.private_data = from->wish.private_data_len ? event->data : NULL;
  events_add(events_of(id), event);
}

EXPORT struct rdma_event_channel *rdma_create_event_channel(void) {
  FAULT(NULL);
  struct fake_events *made = calloc(1, sizeof *made);
  pthread_mutex_lock(&fabric);
  int failed = events_open(&made->events, EVENT_CM, NULL);
  cm_objects += !failed;
  pthread_mutex_unlock(&fabric);
  if (failed) {
    free(made);
    return NULL;
  }
  made->channel.fd = made->events.fd;
  return &made->channel;
}

static void destroy_untold(const struct rdma_event_channel *channel);

EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
  pthread_mutex_lock(&fabric);
  destroy_untold(channel);
  events_close(&((struct fake_events *)channel)->events);
  cm_objects--;
  pthread_mutex_unlock(&fabric);
  free(channel);
}

/* ---- queue pairs of connections, as librdmacm moves them */

static struct fake_qp *pair_of(const struct fake_id *id) {
  return (struct fake_qp *)id->id.qp;
}

static bool is_iwarp(const struct fake_id *id) {
  return id->id.verbs && profile_of(id->id.verbs)->transport == IBV_TRANSPORT_IWARP;
}

/* The way to the peer: by LID within a subnet of InfiniBand, else by the GIDs of the addresses. */
static struct ibv_ah_attr way_of(struct fake_id *id) {
  struct ibv_ah_attr way = {.port_num = id->id.port_num};
  const struct ibv_port_attr *port = &profile_of(id->id.verbs)->ports[id->id.port_num - 1];
  if (port->link_layer == IBV_LINK_LAYER_INFINIBAND) {
    way.dlid = profile_of(id->peer->id.verbs)->ports[id->peer->id.port_num - 1].lid;
    return way;
  }
  union ibv_gid own = gid_of(&id->id.route.addr.src_addr);
  uint8_t found;
  int index = 0;
  device_at(&own, &found, &index);
  way.is_global = 1;
  way.grh.sgid_index = (uint8_t)index;
  way.grh.dgid = gid_of(&id->id.route.addr.dst_addr);
  way.grh.traffic_class = id->tos;
  return way;
}

static uint8_t least(uint8_t wish, int most) {
  return wish > most ? (uint8_t)most : wish;
}

/* Which attributes the kernel has for a state (ib_cm_init_qp_attr, iw_cm_init_qp_attr). */
static int attributes(struct fake_id *id, struct ibv_qp_attr *attr, int *mask) {
  const struct ibv_device_attr *limits = &profile_of(id->id.verbs)->attr;
  bool knows_peer = id->peer && (id->state == REQUESTED || id->state == ANSWERED);
  enum ibv_qp_state state = attr->qp_state;
  *attr = (struct ibv_qp_attr){.qp_state = state, .port_num = id->id.port_num};
  if (state == IBV_QPS_INIT) {
    if (id->state == ENDED) {
      return EINVAL;
    }
    *mask = IBV_QP_STATE | IBV_QP_ACCESS_FLAGS;
    if (is_iwarp(id)) {
      attr->qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
      return 0;
    }
    *mask |= IBV_QP_PKEY_INDEX | IBV_QP_PORT;
    if (knows_peer) {
      attr->qp_access_flags =
          IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
    }
    return 0;
  }
  if (!knows_peer) {
    return EINVAL;
  }
  const struct rdma_conn_param *other = &id->peer->wish;
  /* The kernel of iWARP has what this end has said of itself. */
  bool asked = id->state == ANSWERED || is_iwarp(id);
  if (state == IBV_QPS_RTR) {
    *mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
            IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    attr->ah_attr = way_of(id);
    attr->path_mtu = IBV_MTU_1024;
    attr->dest_qp_num = id->peer->qp_num;
    attr->max_dest_rd_atomic = least(
        asked ? id->wish.responder_resources : other->initiator_depth, limits->max_qp_rd_atom);
  } else {
    *mask = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
            IBV_QP_MAX_QP_RD_ATOMIC;
    attr->timeout = 18;
    attr->retry_cnt = asked ? id->wish.retry_count : other->retry_count;
    attr->rnr_retry = other->rnr_retry_count;
    attr->max_rd_atomic = least(asked ? id->wish.initiator_depth : other->responder_resources,
                                limits->max_qp_init_rd_atom);
  }
  return 0;
}

EXPORT int rdma_init_qp_attr(struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask) {
  FAULT(-1);
  pthread_mutex_lock(&fabric);
  int error = attributes((struct fake_id *)id, attr, mask);
  pthread_mutex_unlock(&fabric);
  return answer(error);
}

static int move(struct fake_id *id, struct fake_qp *qp, enum ibv_qp_state state) {
  struct ibv_qp_attr attr = {.qp_state = state};
  int mask;
  int error = attributes(id, &attr, &mask);
  return error ? error : qp_modify(qp, &attr, mask);
}

/* ucma_modify_qp_rtr and _rts, for a queue pair that librdmacm knows. */
static int ready(struct fake_id *id) {
  int error = move(id, pair_of(id), IBV_QPS_INIT);
  error = error ? error : move(id, pair_of(id), IBV_QPS_RTR);
  return error ? error : move(id, pair_of(id), IBV_QPS_RTS);
}

/* Of iWARP the kernel has the queue pair, finds it by its number, and connects it. */
static int ready_by_kernel(struct fake_id *id) {
  struct fake_qp *qp = qp_find(id->qp_num);
  if (!qp) {
    return EINVAL;
  }
  int error = 0;
  if (qp->qp.state == IBV_QPS_INIT) {
    error = move(id, qp, IBV_QPS_RTR);
  }
  return error ? error : move(id, qp, IBV_QPS_RTS);
}

static void leave_backlog(struct fake_id *id) {
  if (id->listener) {
    id->listener->pending--;
    id->listener = NULL;
  }
}

static void establish(struct fake_id *id) {
  id->state = CONNECTED;
  if (id->peer->state == ACCEPTED) {
    id->peer->state = CONNECTED;
    raise_cm(id->peer, RDMA_CM_EVENT_ESTABLISHED, 0);
  }
}

/* Taking the answer to a request connects, unless the program has the queue pair to itself. */
static void connected(struct fake_id *id, struct rdma_cm_event *event) {
  if (id->state != ANSWERED || !id->peer || (!id->id.qp && !is_iwarp(id))) {
    return;
  }
  int error = is_iwarp(id) ? ready_by_kernel(id) : ready(id);
  if (error) {
    event->event = RDMA_CM_EVENT_CONNECT_ERROR;
    event->status = -error;
    return;
  }
  event->event = RDMA_CM_EVENT_ESTABLISHED;
  establish(id);
}

EXPORT int rdma_establish(struct rdma_cm_id *cm_id) {
  FAULT(-1);
  struct fake_id *id = (struct fake_id *)cm_id;
  pthread_mutex_lock(&fabric);
  int error = !cm_id->qp && id->state == ANSWERED && id->peer ? 0 : EINVAL;
  if (!error) {
    establish(id);
  }
  pthread_mutex_unlock(&fabric);
  return answer(error);
}

EXPORT int rdma_set_local_ece(struct rdma_cm_id *id, struct ibv_ece *ece) {
  FAULT(-1);
  if (id->qp || !ece->vendor_id || ece->comp_mask) {
    return answer(EINVAL);
  }
  ((struct fake_id *)id)->local_ece = *ece;
  return 0;
}

EXPORT int rdma_get_remote_ece(struct rdma_cm_id *id, struct ibv_ece *ece) {
  FAULT(-1);
  *ece = ((struct fake_id *)id)->remote_ece;
  return answer(id->qp ? EINVAL : 0);
}

EXPORT int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **target) {
  FAULT(-1);
  struct event *event = events_take_locked(&((struct fake_events *)channel)->events);
  if (!event) {
    return -1;
  }
  struct fake_id *id = (struct fake_id *)event->cm.id;
  id->events_told++;
  if (event->cm.event == RDMA_CM_EVENT_CONNECT_RESPONSE) {
    connected(id, &event->cm);
  } else if (event->cm.event == RDMA_CM_EVENT_CONNECT_REQUEST) {
    /* As ucma: the backlog is of requests that the program has not taken. */
    leave_backlog(id);
    id->is_untold = false;
    timer_set();
  }
  pthread_mutex_unlock(&fabric);
  *target = &event->cm;
  return 0;
}

EXPORT int rdma_ack_cm_event(struct rdma_cm_event *event) {
  FAULT(-1);
  pthread_mutex_lock(&fabric);
  ((struct fake_id *)event->id)->events_completed++;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&fabric);
  free((char *)event - offsetof(struct event, cm));
  return 0;
}

/* ---- identifiers */

static struct fake_id *made(struct rdma_event_channel *channel, void *context,
                            enum rdma_port_space space) {
  struct fake_id *id = calloc(1, sizeof *id);
  id->id.channel = channel;
  id->id.context = context;
  id->id.ps = space;
  id->id.qp_type = space == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC;
  id->next = identifiers;
  identifiers = id;
  cm_objects++;
  return id;
}

EXPORT int rdma_create_id(struct rdma_event_channel *channel, struct rdma_cm_id **target,
                          void *context, enum rdma_port_space space) {
  FAULT(-1);
  pthread_mutex_lock(&fabric);
  *target = &made(channel, context, space)->id;
  pthread_mutex_unlock(&fabric);
  return 0;
}

static void reject(struct fake_id *id, int status, const void *data, uint8_t length) {
  struct event *event = event_for(id, RDMA_CM_EVENT_REJECTED, status);
  memcpy(event->data, data, length);
  event->cm.param.conn.private_data = length ? event->data : NULL;
  event->cm.param.conn.private_data_len = length;
  id->state = ENDED;
  id->peer = NULL;
  events_add(events_of(id), event);
}

/* What the peer is told when an identifier goes. */
static void part(struct fake_id *id) {
  struct fake_id *peer = id->peer;
  leave_backlog(id);
  if (!peer) {
    return;
  }
  id->peer = NULL;
  switch (peer->state) {
    case ASKED:
    case ANSWERED:
    case REQUESTED:
    case ACCEPTED:
      leave_backlog(peer);
      if (is_iwarp(peer) && qp_find(peer->qp_num)) {
        qp_fail(qp_find(peer->qp_num));
      }
      reject(peer, REJECT_CONSUMER_DEFINED, "", 0);
      break;
    case CONNECTED:
    case DISCONNECTING:
      peer->peer = NULL;
      peer->state = peer->state == CONNECTED ? DISCONNECTED : ENDED;
      raise_cm(peer, RDMA_CM_EVENT_DISCONNECTED, 0);
      break;
    default:
      peer->peer = NULL;
  }
}

static void unlink_identifier(struct fake_id *id) {
  struct fake_id **link = &identifiers;
  while (*link != id) {
    link = &(*link)->next;
  }
  *link = id->next;
  cm_objects--;
}

static void destroy_locked(struct fake_id *id) {
  part(id);
  if (id->state == LISTENING) {
    for (struct fake_id *each = identifiers, *next; each; each = next) {
      next = each->next;
      /* Nobody has taken the request: its identifier is not known to the program. */
      if (each->listener == id) {
        destroy_locked(each);
        next = identifiers;
      }
    }
  }
  id->state = ENDED;
  events_forget(events_of(id), id);
  unlink_identifier(id);
  while (id->events_completed != id->events_told) {
    pthread_cond_wait(&changed, &fabric);
  }
  if (id->id.verbs) {
    context_release(id->id.verbs);
  }
  free(id);
}

static void destroy_untold(const struct rdma_event_channel *channel) {
  for (struct fake_id *each = identifiers, *next; each; each = next) {
    next = each->next;
    if (each->is_untold && each->id.channel == channel) {
      destroy_locked(each);
      next = identifiers;
    }
  }
}

EXPORT int rdma_destroy_id(struct rdma_cm_id *id) {
  FAULT(-1);
  pthread_mutex_lock(&fabric);
  destroy_locked((struct fake_id *)id);
  timer_set();
  pthread_mutex_unlock(&fabric);
  return 0;
}

EXPORT int rdma_set_option(struct rdma_cm_id *id, int level, int option, void *value, size_t size) {
  FAULT(-1);
  (void)level, (void)size;
  if (option == RDMA_OPTION_ID_TOS) {
    ((struct fake_id *)id)->tos = *(uint8_t *)value;
  }
  if (option == RDMA_OPTION_ID_REUSEADDR) {
    ((struct fake_id *)id)->reuses_address = *(int *)value;
  }
  return 0;
}

EXPORT int rdma_bind_addr(struct rdma_cm_id *cm_id, struct sockaddr *address) {
  FAULT(-1);
  struct fake_id *id = (struct fake_id *)cm_id;
  if (lacks_scope(address)) {
    return answer(EINVAL);
  }
  pthread_mutex_lock(&fabric);
  int error = 0;
  if (*port_of(address) && is_taken(id, address)) {
    error = EADDRINUSE;
  } else if (!is_any(address) && !bind_device(id, address)) {
    error = ENODEV;
  } else {
    memcpy(&cm_id->route.addr.src_storage, address, size_of(address));
    give_port(id);
    id->state = BOUND;
  }
  pthread_mutex_unlock(&fabric);
  return answer(error);
}

EXPORT int rdma_listen(struct rdma_cm_id *cm_id, int backlog) {
  FAULT(-1);
  struct fake_id *id = (struct fake_id *)cm_id;
  pthread_mutex_lock(&fabric);
  int error = id->state == BOUND ? 0 : EINVAL;
  if (!error) {
    id->state = LISTENING;
    id->backlog = backlog;
  }
  pthread_mutex_unlock(&fabric);
  return answer(error);
}

EXPORT int rdma_resolve_addr(struct rdma_cm_id *cm_id, struct sockaddr *source,
                             struct sockaddr *target, int timeout) {
  FAULT(-1);
  (void)timeout;
  struct fake_id *id = (struct fake_id *)cm_id;
  if (lacks_scope(target) || (source && lacks_scope(source)) ||
      (source && source->sa_family != target->sa_family)) {
    return answer(EINVAL);
  }
  pthread_mutex_lock(&fabric);
  union ibv_gid own = gid_of(source ? source : target);
  uint8_t port;
  int index;
  struct device *device = device_at(&own, &port, &index);
  if (!device && !source) {
    device = near(target, &own);
  }
  if (!device) {
    pthread_mutex_unlock(&fabric);
    return answer(source ? ENODEV : ENETUNREACH);
  }
  set_address(&cm_id->route.addr.src_storage, target, &own);
  memcpy(&cm_id->route.addr.dst_storage, target, size_of(target));
  bind_device(id, &cm_id->route.addr.src_addr);
  give_port(id);
  id->state = ADDRESSED;
  raise_cm(id, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
  pthread_mutex_unlock(&fabric);
  return 0;
}

EXPORT int rdma_resolve_route(struct rdma_cm_id *cm_id, int timeout) {
  FAULT(-1);
  (void)timeout;
  struct fake_id *id = (struct fake_id *)cm_id;
  pthread_mutex_lock(&fabric);
  int error = id->state == ADDRESSED ? 0 : EINVAL;
  if (!error) {
    id->state = ROUTED;
    raise_cm(id, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
  }
  pthread_mutex_unlock(&fabric);
  return answer(error);
}

EXPORT int rdma_create_qp(struct rdma_cm_id *cm_id, struct ibv_pd *pd,
                          struct ibv_qp_init_attr *wish) {
  FAULT(-1);
  struct fake_id *id = (struct fake_id *)cm_id;
  if (cm_id->qp || pd->context != cm_id->verbs) {
    return answer(EINVAL);
  }
  struct ibv_qp *qp = ibv_create_qp(pd, wish);
  if (!qp) {
    return -1;
  }
  pthread_mutex_lock(&fabric);
  /* The kernel has no attributes for who has given up. */
  int error = move(id, (struct fake_qp *)qp, IBV_QPS_INIT);
  pthread_mutex_unlock(&fabric);
  if (error) {
    ibv_destroy_qp(qp);
    return answer(error);
  }
  cm_id->qp = qp;
  return 0;
}

static void keep(struct fake_id *id, const struct rdma_conn_param *wish) {
  id->wish = *wish;
  id->qp_num = id->id.qp ? id->id.qp->qp_num : wish->qp_num;
  if (wish->private_data_len) {
    memcpy(id->data, wish->private_data, wish->private_data_len);
  }
}

static struct fake_id *listener_of(struct fake_id *caller) {
  struct sockaddr *target = &caller->id.route.addr.dst_addr;
  for (struct fake_id *id = identifiers; id; id = id->next) {
    struct sockaddr *have = &id->id.route.addr.src_addr;
    if (id->state == LISTENING && *port_of(have) == *port_of(target) && id->id.ps == caller->id.ps &&
        (is_any(have) || is_same_host(have, target))) {
      return id;
    }
  }
  return NULL;
}

/* Whether the device of the peer, if it is here, speaks this one's protocol on the same kind of link. */
static bool is_same_network(const struct fake_id *caller) {
  union ibv_gid gid = gid_of(&caller->id.route.addr.dst_addr);
  uint8_t port;
  int index;
  const struct profile *own = profile_of(caller->id.verbs);
  const struct device *peer = device_at(&gid, &port, &index);
  return !peer || (peer->profile->transport == own->transport &&
                   peer->profile->ports[port - 1].link_layer ==
                       own->ports[caller->id.port_num - 1].link_layer);
}

static void ask(struct fake_id *caller) {
  if (!is_same_network(caller)) {
    /* As cma.c: nobody listens on TCP there (cma_iw_handler), or hears datagrams of the CM. */
    if (is_iwarp(caller)) {
      reject(caller, -ECONNREFUSED, "", 0);
    } else {
      caller->state = ENDED;
      raise_cm(caller, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
    }
    return;
  }
  struct fake_id *listener = listener_of(caller);
  if (!listener) {
    reject(caller, REJECT_INVALID_SERVICE_ID, "", 0);
    return;
  }
  if (listener->pending >= listener->backlog && is_iwarp(caller)) {
    /* As iwcm.c: the connection of TCP that there is by then is closed. */
    reject(caller, -ECONNRESET, "", 0);
    return;
  }
  if (listener->pending >= listener->backlog) {
    /* Dropped without a word: it asks again. */
    caller->state = ASKING;
    timer_set();
    return;
  }
  struct fake_id *request = made(listener->id.channel, listener->id.context, listener->id.ps);
  listener->pending++;
  request->is_untold = true;
  request->listener = listener;
  request->peer = caller;
  request->remote_ece = caller->local_ece;
  request->state = REQUESTED;
  caller->peer = request;
  caller->state = ASKED;
  request->id.route.addr.src_storage = caller->id.route.addr.dst_storage;
  request->id.route.addr.dst_storage = caller->id.route.addr.src_storage;
  bind_device(request, &request->id.route.addr.src_addr);
  raise_with(request, listener, RDMA_CM_EVENT_CONNECT_REQUEST, caller);
}

EXPORT int rdma_connect(struct rdma_cm_id *cm_id, struct rdma_conn_param *wish) {
  FAULT(-1);
  struct fake_id *id = (struct fake_id *)cm_id;
  pthread_mutex_lock(&fabric);
  int error = id->state == ROUTED ? 0 : EINVAL;
  if (!error) {
    keep(id, wish);
    ask(id);
  }
  pthread_mutex_unlock(&fabric);
  return answer(error);
}

EXPORT int rdma_accept(struct rdma_cm_id *cm_id, struct rdma_conn_param *wish) {
  FAULT(-1);
  struct fake_id *id = (struct fake_id *)cm_id;
  pthread_mutex_lock(&fabric);
  int error = id->state == REQUESTED && id->peer ? 0 : EINVAL;
  if (!error) {
    keep(id, wish);
    if (is_iwarp(id)) {
      error = ready_by_kernel(id);
    } else if (cm_id->qp) {
      error = ready(id);
    }
  }
  if (!error) {
    leave_backlog(id);
    id->state = ACCEPTED;
    id->peer->state = ANSWERED;
    id->peer->remote_ece = id->local_ece;
    raise_with(id->peer, NULL, RDMA_CM_EVENT_CONNECT_RESPONSE, id);
    timer_set();
  }
  pthread_mutex_unlock(&fabric);
  return answer(error);
}

EXPORT int rdma_reject(struct rdma_cm_id *cm_id, const void *data, uint8_t length) {
  FAULT(-1);
  struct fake_id *id = (struct fake_id *)cm_id;
  pthread_mutex_lock(&fabric);
  int error = id->state == REQUESTED && id->peer ? 0 : EINVAL;
  if (!error) {
    leave_backlog(id);
    reject(id->peer, REJECT_CONSUMER_DEFINED, data, length);
    id->peer = NULL;
    id->state = ENDED;
    timer_set();
  }
  pthread_mutex_unlock(&fabric);
  return answer(error);
}

EXPORT int rdma_disconnect(struct rdma_cm_id *cm_id) {
  FAULT(-1);
  struct fake_id *id = (struct fake_id *)cm_id;
  pthread_mutex_lock(&fabric);
  struct fake_id *peer = id->peer;
  int error = 0;
  if (cm_id->qp && is_gone(cm_id->verbs)) {
    /* librdmacm modifies the queue pair before anything else. */
    pthread_mutex_unlock(&fabric);
    return answer(EIO);
  }
  if (cm_id->qp) {
    qp_fail(pair_of(id));
  }
  if (id->state == CONNECTED || id->state == ACCEPTED || id->state == ANSWERED) {
    id->state = DISCONNECTING;
    if (peer && (peer->state == CONNECTED || peer->state == ACCEPTED || peer->state == ANSWERED)) {
      peer->state = DISCONNECTED;
      raise_cm(peer, RDMA_CM_EVENT_DISCONNECTED, 0);
    }
  } else if (id->state == DISCONNECTED) {
    id->state = ENDED;
    if (peer && peer->state == DISCONNECTING) {
      peer->state = ENDED;
      raise_cm(peer, RDMA_CM_EVENT_DISCONNECTED, 0);
    }
  } else if (id->state != DISCONNECTING) {
    error = EINVAL;
  }
  if (!error && is_iwarp(id) && qp_find(id->qp_num)) {
    /* The kernel has the connection, and its end. */
    qp_fail(qp_find(id->qp_num));
  }
  pthread_mutex_unlock(&fabric);
  return answer(error);
}

void cm_stream_ended(uint32_t qp_num) {
  for (struct fake_id *id = identifiers; id; id = id->next) {
    if (id->state == CONNECTED && id->qp_num == qp_num) {
      id->state = DISCONNECTED;
      raise_cm(id, RDMA_CM_EVENT_DISCONNECTED, 0);
    }
  }
}

void device_gone_for_cm(struct device *device) {
  for (struct fake_id *id = identifiers; id; id = id->next) {
    if (id->id.verbs && context_of(id->id.verbs)->device == device) {
      raise_cm(id, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
    }
  }
}

int64_t cm_timers(int64_t time) {
  int64_t next = NEVER;
  for (struct fake_id *id = identifiers; id; id = id->next) {
    if (id->state == ASKING) {
      ask(id);
    }
    if (id->state == ASKING) {
      next = time + RETRY_NANOS;
    }
  }
  return next;
}
