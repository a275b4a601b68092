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
  bool reuses_address;
  int backlog, pending;
  struct rdma_conn_param wish;
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
  event->cm.param.conn.qp_num = from->id.qp ? from->id.qp->qp_num : 0;
  memcpy(event->data, from->data, sizeof event->data);
  event->cm.param.conn.private_data = from->wish.private_data_len ? event->data : NULL;
  events_add(events_of(id), event);
}

EXPORT struct rdma_event_channel *rdma_create_event_channel(void) {
  FAULT(NULL);
  struct fake_events *made = calloc(1, sizeof *made);
  pthread_mutex_lock(&fabric);
  int failed = events_open(&made->events, EVENT_CM);
  pthread_mutex_unlock(&fabric);
  if (failed) {
    free(made);
    return NULL;
  }
  made->channel.fd = made->events.fd;
  return &made->channel;
}

EXPORT void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
  pthread_mutex_lock(&fabric);
  events_close(&((struct fake_events *)channel)->events);
  pthread_mutex_unlock(&fabric);
  free(channel);
}

/* ---- queue pairs of connections, as librdmacm moves them */

static struct fake_qp *pair_of(const struct fake_id *id) {
  return (struct fake_qp *)id->id.qp;
}

static int ready(struct fake_id *id, uint32_t peer) {
  struct fake_qp *qp = pair_of(id);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_RTR,
                             .ah_attr = {.is_global = 1, .port_num = id->id.port_num},
                             .path_mtu = IBV_MTU_1024,
                             .dest_qp_num = peer,
                             /* What the program wished for; all if it wished for the most. */
                             .max_dest_rd_atomic = id->wish.responder_resources,
                             .max_rd_atomic = id->wish.initiator_depth,
                             .timeout = 18,
                             .retry_cnt = id->wish.retry_count,
                             .rnr_retry = id->wish.rnr_retry_count};
  union ibv_gid own = gid_of(&id->id.route.addr.src_addr);
  uint8_t port;
  int index = 0;
  device_at(&own, &port, &index);
  attr.ah_attr.grh.sgid_index = (uint8_t)index;
  attr.ah_attr.grh.dgid = gid_of(&id->id.route.addr.dst_addr);
  if (id->peer && id->peer->id.verbs) {
    attr.ah_attr.dlid = profile_of(id->peer->id.verbs)->ports[id->peer->id.port_num - 1].lid;
  }
  const struct ibv_device_attr *limits = &profile_of(id->id.verbs)->attr;
  if (attr.max_dest_rd_atomic > limits->max_qp_rd_atom) {
    attr.max_dest_rd_atomic = (uint8_t)limits->max_qp_rd_atom;
  }
  if (attr.max_rd_atomic > limits->max_qp_init_rd_atom) {
    attr.max_rd_atomic = (uint8_t)limits->max_qp_init_rd_atom;
  }
  int error = qp_modify(qp, &attr,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error) {
    return error;
  }
  attr.qp_state = IBV_QPS_RTS;
  return qp_modify(qp, &attr,
                   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                       IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

static void leave_backlog(struct fake_id *id) {
  if (id->listener) {
    id->listener->pending--;
    id->listener = NULL;
  }
}

/* Taking the answer to a request connects, and tells the peer. */
static void connected(struct fake_id *id, struct rdma_cm_event *event) {
  struct fake_id *peer = id->peer;
  if (id->state != ANSWERED || !peer) {
    return;
  }
  int error = id->id.qp ? ready(id, event->param.conn.qp_num) : 0;
  if (error) {
    event->event = RDMA_CM_EVENT_CONNECT_ERROR;
    event->status = -error;
    return;
  }
  event->event = RDMA_CM_EVENT_ESTABLISHED;
  id->state = CONNECTED;
  if (peer->state == ACCEPTED) {
    peer->state = CONNECTED;
    raise_cm(peer, RDMA_CM_EVENT_ESTABLISHED, 0);
  }
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
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT,
                             .port_num = cm_id->port_num,
                             .qp_access_flags = IBV_ACCESS_REMOTE_WRITE};
  pthread_mutex_lock(&fabric);
  /* The kernel has no attributes for who has given up. */
  int error = id->state == ENDED ? EINVAL
                                 : qp_modify((struct fake_qp *)qp, &attr,
                                             IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
                                                 IBV_QP_ACCESS_FLAGS);
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

static void ask(struct fake_id *caller) {
  struct fake_id *listener = listener_of(caller);
  if (!listener) {
    reject(caller, REJECT_INVALID_SERVICE_ID, "", 0);
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
  request->listener = listener;
  request->peer = caller;
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
    uint8_t retries = id->peer->wish.retry_count;
    keep(id, wish);
    id->wish.retry_count = retries;
    error = cm_id->qp && id->peer->id.qp ? ready(id, id->peer->id.qp->qp_num) : EINVAL;
  }
  if (!error) {
    leave_backlog(id);
    id->state = ACCEPTED;
    id->peer->state = ANSWERED;
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
  pthread_mutex_unlock(&fabric);
  return answer(error);
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
