// SPDX-License-Identifier: Apache-2.0
/* Queue pairs: their states, what is posted to them, and what becomes of it at the peer. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

#define NUMBERS (1 << 13)
#define NANOS_PER_MICRO 1000LL

static struct fake_qp *pairs[NUMBERS];
static uint32_t last_number = 16;

static void run(struct fake_qp *qp);
static void end_stream(struct fake_qp *qp);

struct fake_qp *qp_find(uint32_t number) {
  return number < NUMBERS ? pairs[number] : NULL;
}

/* ---- creation */

static int check_wish(struct ibv_context *context, const struct ibv_qp_init_attr *wish) {
  const struct profile *profile = profile_of(context);
  const struct ibv_device_attr *limits = &profile->attr;
  if (is_gone(context)) {
    return EIO;
  }
  bool is_known = (wish->qp_type == IBV_QPT_RC && profile->has_rc) ||
                  (wish->qp_type == IBV_QPT_UD && profile->has_ud);
  if (!is_known) {
    return EOPNOTSUPP;
  }
  bool fits = wish->cap.max_send_wr <= (uint32_t)limits->max_qp_wr &&
              wish->cap.max_recv_wr <= (uint32_t)limits->max_qp_wr &&
              wish->cap.max_send_sge <= (uint32_t)limits->max_sge &&
              wish->cap.max_recv_sge <= (uint32_t)limits->max_sge &&
              wish->cap.max_inline_data <= profile->max_inline;
  return fits ? 0 : EINVAL;
}

static bool number(struct fake_qp *qp) {
  for (int i = 0; i < NUMBERS; i++) {
    /* Never 0 and 1, which are the subnet manager's. */
    last_number = last_number + 1 < NUMBERS ? last_number + 1 : 2;
    if (!pairs[last_number]) {
      qp->qp.qp_num = last_number;
      pairs[last_number] = qp;
      return true;
    }
  }
  return false;
}

static void use(struct fake_qp *qp, int change) {
  ((struct fake_cq *)qp->qp.send_cq)->users += change;
  ((struct fake_cq *)qp->qp.recv_cq)->users += change;
  ((struct fake_pd *)qp->qp.pd)->users += change;
  if (qp->qp.srq) {
    ((struct fake_srq *)qp->qp.srq)->users += change;
  }
}

EXPORT struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *wish) {
  FAULT(NULL);
  int error = check_wish(pd->context, wish);
  if (error) {
    errno = error;
    return NULL;
  }
  struct fake_qp *qp = calloc(1, sizeof *qp);
  uint32_t sends = wish->cap.max_send_wr ? wish->cap.max_send_wr : 1;
  qp->init = *wish;
  qp->qp = (struct ibv_qp){.context = pd->context,
                           .pd = pd,
                           .send_cq = wish->send_cq,
                           .recv_cq = wish->recv_cq,
                           .srq = wish->srq,
                           .qp_type = wish->qp_type,
                           .state = IBV_QPS_RESET};
  qp->ring = calloc(sends, sizeof *qp->ring);
  qp->sges = calloc((size_t)sends * wish->cap.max_send_sge + 1, sizeof *qp->sges);
  qp->inlined = calloc((size_t)sends * wish->cap.max_inline_data + 1, 1);
  qp->due = NEVER;
  receives_init(&qp->receives, wish->srq ? 0 : wish->cap.max_recv_wr, wish->cap.max_recv_sge);
  pthread_mutex_lock(&fabric);
  if (!number(qp)) {
    abort();
  }
  use(qp, 1);
  verbs_objects++;
  pthread_mutex_unlock(&fabric);
  return &qp->qp;
}

static void clean(struct fake_qp *qp) {
  cq_clean(qp->qp.send_cq, qp);
  cq_clean(qp->qp.recv_cq, qp);
}

EXPORT int ibv_destroy_qp(struct ibv_qp *pair) {
  FAULT(errno);
  struct fake_qp *qp = (struct fake_qp *)pair;
  pthread_mutex_lock(&fabric);
  end_stream(qp);
  pairs[pair->qp_num] = NULL;
  qp->due = NEVER;
  clean(qp);
  events_forget(&context_of(pair->context)->async, pair);
  while (pair->events_completed != qp->async_told) {
    pthread_cond_wait(&changed, &fabric);
  }
  use(qp, -1);
  verbs_objects--;
  pthread_mutex_unlock(&fabric);
  receives_destroy(&qp->receives);
  free(qp->ring);
  free(qp->sges);
  free(qp->inlined);
  free(qp);
  return 0;
}

/* ---- what the driver can do beyond the standard */

static int with_errno(int error) {
  errno = error;
  return error;
}

EXPORT int ibv_query_ece(struct ibv_qp *pair, struct ibv_ece *ece) {
  FAULT(errno);
  const struct profile *profile = profile_of(pair->context);
  *ece = (struct ibv_ece){.vendor_id = profile->ece ? profile->attr.vendor_id : 0,
                          .options = profile->ece};
  return profile->ece ? 0 : with_errno(EOPNOTSUPP);
}

/* As mlx5: before RTR, in which the driver tells the device. */
EXPORT int ibv_set_ece(struct ibv_qp *pair, struct ibv_ece *ece) {
  FAULT(errno);
  const struct profile *profile = profile_of(pair->context);
  if (!profile->ece) {
    return with_errno(EOPNOTSUPP);
  }
  if (ece->vendor_id != profile->attr.vendor_id || pair->state > IBV_QPS_INIT) {
    return with_errno(EINVAL);
  }
  ece->options &= profile->ece;
  ((struct fake_qp *)pair)->ece = ece->options;
  return 0;
}

/* ---- states */

static bool is_transition(enum ibv_qp_state from, enum ibv_qp_state to) {
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) {
    return to == IBV_QPS_RESET || from != IBV_QPS_RESET;
  }
  switch (from) {
    case IBV_QPS_RESET:
      return to == IBV_QPS_INIT;
    case IBV_QPS_INIT:
      return to == IBV_QPS_INIT || to == IBV_QPS_RTR;
    case IBV_QPS_RTR:
      return to == IBV_QPS_RTS;
    case IBV_QPS_RTS:
      return to == IBV_QPS_RTS || to == IBV_QPS_SQD;
    case IBV_QPS_SQD:
      return to == IBV_QPS_SQD || to == IBV_QPS_RTS;
    default:
      return false;
  }
}

bool is_way(const struct profile *profile, const struct ibv_ah_attr *way) {
  bool by_lid = profile->ports[way->port_num - 1].link_layer == IBV_LINK_LAYER_INFINIBAND;
  bool has_gid = way->is_global && profile->gids[way->port_num - 1][way->grh.sgid_index].set;
  return by_lid ? way->dlid && (!way->is_global || has_gid) : has_gid;
}

static bool is_allowed(const struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask) {
  const struct profile *profile = profile_of(qp->qp.context);
  const struct ibv_device_attr *limits = &profile->attr;
  if (mask & IBV_QP_ACCESS_FLAGS && attr->qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC &&
      limits->atomic_cap == IBV_ATOMIC_NONE) {
    return false;
  }
  if (mask & IBV_QP_PORT && (attr->port_num < 1 || attr->port_num > limits->phys_port_cnt)) {
    return false;
  }
  if (mask & IBV_QP_AV) {
    const struct ibv_ah_attr *way = &attr->ah_attr;
    bool is_iwarp = profile->transport == IBV_TRANSPORT_IWARP;
    /* Of the queue pair's own port, as modify_qp of the kernel's uverbs_cmd.c has it. */
    if (way->port_num < 1 || way->port_num > limits->phys_port_cnt ||
        (!is_iwarp && (way->port_num != qp->attr.port_num || !is_way(profile, way)))) {
      return false;
    }
  }
  return (!(mask & IBV_QP_MAX_QP_RD_ATOMIC) || attr->max_rd_atomic <= limits->max_qp_init_rd_atom) &&
         (!(mask & IBV_QP_MAX_DEST_RD_ATOMIC) || attr->max_dest_rd_atomic <= limits->max_qp_rd_atom);
}

static void copy_attributes(struct ibv_qp_attr *to, const struct ibv_qp_attr *from, int mask) {
#define COPY(bit, field)    \
  if (mask & (bit)) {       \
    to->field = from->field; \
  }
  COPY(IBV_QP_ACCESS_FLAGS, qp_access_flags)
  COPY(IBV_QP_PKEY_INDEX, pkey_index)
  COPY(IBV_QP_PORT, port_num)
  COPY(IBV_QP_QKEY, qkey)
  COPY(IBV_QP_AV, ah_attr)
  COPY(IBV_QP_PATH_MTU, path_mtu)
  COPY(IBV_QP_TIMEOUT, timeout)
  COPY(IBV_QP_RETRY_CNT, retry_cnt)
  COPY(IBV_QP_RNR_RETRY, rnr_retry)
  COPY(IBV_QP_RQ_PSN, rq_psn)
  COPY(IBV_QP_MAX_QP_RD_ATOMIC, max_rd_atomic)
  COPY(IBV_QP_MIN_RNR_TIMER, min_rnr_timer)
  COPY(IBV_QP_SQ_PSN, sq_psn)
  COPY(IBV_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic)
  COPY(IBV_QP_DEST_QPN, dest_qp_num)
#undef COPY
}

static void complete(struct fake_qp *qp, bool receive, uint64_t id, uint64_t slot,
                     enum ibv_wc_status status, struct ibv_wc wc, bool solicited) {
  wc.wr_id = id;
  wc.status = status;
  wc.qp_num = qp->qp.qp_num;
  struct completion completion = {.cq = receive ? qp->qp.recv_cq : qp->qp.send_cq,
                                  .solicited = solicited,
                                  .wc = wc,
                                  .qp = qp,
                                  .slot = slot,
                                  .of_receive = receive};
  cq_push(&completion);
}

static void flush(struct fake_qp *qp) {
  while (qp->head < qp->tail) {
    struct send *send = &qp->ring[qp->head % qp->init.cap.max_send_wr];
    uint64_t slot = qp->head++;
    complete(qp, false, send->wr.wr_id, slot, IBV_WC_WR_FLUSH_ERR, (struct ibv_wc){0}, false);
  }
  while (qp->receives.head < qp->receives.tail) {
    uint64_t id = qp->receives.ring[qp->receives.head % qp->receives.size].id;
    uint64_t slot = qp->receives.head++;
    complete(qp, true, id, slot, IBV_WC_WR_FLUSH_ERR, (struct ibv_wc){0}, false);
  }
}

void qp_fail(struct fake_qp *qp) {
  if (qp->qp.state == IBV_QPS_ERR || qp->qp.state == IBV_QPS_RESET) {
    return;
  }
  qp->qp.state = IBV_QPS_ERR;
  qp->due = NEVER;
  flush(qp);
  if (qp->qp.srq) {
    raise_async(qp->qp.context, IBV_EVENT_QP_LAST_WQE_REACHED, &qp->qp);
  }
  end_stream(qp);
}

/* ---- streams: the queue pairs of iWARP are connections of TCP, which fail at both ends or at none */

static bool is_stream(const struct fake_qp *qp) {
  return profile_of(qp->qp.context)->transport == IBV_TRANSPORT_IWARP;
}

/* The other end, once the kernel has connected it too. */
static struct fake_qp *other_end(const struct fake_qp *qp) {
  struct fake_qp *peer = qp_find(qp->attr.dest_qp_num);
  return peer && peer->attr.dest_qp_num == qp->qp.qp_num ? peer : NULL;
}

/* Whether the other end has not taken the answer yet, with which the kernel connects it. */
static bool awaits_other_end(const struct fake_qp *qp) {
  const struct fake_qp *peer = qp_find(qp->attr.dest_qp_num);
  return peer && peer->qp.state == IBV_QPS_INIT;
}

static void end_stream(struct fake_qp *qp) {
  struct fake_qp *peer = is_stream(qp) ? other_end(qp) : NULL;
  if (peer) {
    qp_fail(peer);
    cm_stream_ended(qp->qp.qp_num);
    cm_stream_ended(peer->qp.qp_num);
  }
}

void cq_overran(struct ibv_cq *cq) {
  for (int i = 0; i < NUMBERS; i++) {
    struct fake_qp *qp = pairs[i];
    if (qp && (qp->qp.send_cq == cq || qp->qp.recv_cq == cq) && qp->qp.state != IBV_QPS_ERR &&
        qp->qp.state != IBV_QPS_RESET) {
      raise_async(qp->qp.context, IBV_EVENT_QP_FATAL, &qp->qp);
      qp_fail(qp);
    }
  }
}

static void reset(struct fake_qp *qp) {
  clean(qp);
  qp->head = qp->tail = qp->freed = 0;
  qp->receives.head = qp->receives.tail = qp->receives.freed = 0;
  qp->due = NEVER;
  qp->tries = 0;
  qp->established = qp->drain_asked = false;
  memset(&qp->attr, 0, sizeof qp->attr);
}

int qp_modify(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask) {
  enum ibv_qp_state from = qp->qp.state;
  enum ibv_qp_state to = mask & IBV_QP_STATE ? attr->qp_state : from;
  if (is_gone(qp->qp.context)) {
    return EIO;
  }
  bool drains = from == IBV_QPS_SQD && qp->head < qp->tail &&
                qp->ring[qp->head % qp->init.cap.max_send_wr].begun;
  if (!is_transition(from, to) || !is_allowed(qp, attr, mask) || (drains && to == IBV_QPS_RTS)) {
    return EINVAL;
  }
  copy_attributes(&qp->attr, attr, mask);
  if (to == IBV_QPS_RESET) {
    end_stream(qp);
    reset(qp);
  } else if (to == IBV_QPS_ERR) {
    qp_fail(qp);
    if (!profile_of(qp->qp.context)->never_flushes_late) {
      flush(qp);
    }
  } else if (to == IBV_QPS_RTR && from == IBV_QPS_INIT) {
    qp->expected_psn = qp->attr.rq_psn;
  } else if (to == IBV_QPS_RTS && from == IBV_QPS_RTR) {
    qp->send_psn = qp->attr.sq_psn;
  }
  if (to != IBV_QPS_ERR) {
    qp->qp.state = to;
  }
  if (to == IBV_QPS_SQD && from == IBV_QPS_RTS) {
    qp->drain_asked = mask & IBV_QP_EN_SQD_ASYNC_NOTIFY && attr->en_sqd_async_notify;
  }
  run(qp);
  if (to == IBV_QPS_RTS && is_stream(qp) && other_end(qp)) {
    run(other_end(qp));
  }
  return 0;
}

EXPORT int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask) {
  FAULT(errno);
  pthread_mutex_lock(&fabric);
  /* iWARP has no addresses that could be given by hand. */
  bool by_hand = profile_of(qp->context)->by_cm_only && mask & (IBV_QP_AV | IBV_QP_DEST_QPN);
  int error = by_hand ? EINVAL : qp_modify((struct fake_qp *)qp, attr, mask);
  pthread_mutex_unlock(&fabric);
  return error;
}

EXPORT int ibv_query_qp(struct ibv_qp *pair, struct ibv_qp_attr *attr, int mask,
                        struct ibv_qp_init_attr *init) {
  FAULT(errno);
  (void)mask;
  struct fake_qp *qp = (struct fake_qp *)pair;
  if (is_gone(pair->context)) {
    return EIO;
  }
  pthread_mutex_lock(&fabric);
  *attr = qp->attr;
  attr->qp_state = attr->cur_qp_state =
      profile_of(pair->context)->hides_state ? IBV_QPS_RESET : pair->state;
  attr->cap = qp->init.cap;
  if (is_stream(qp)) {
    /* No frame says it. */
    attr->dest_qp_num = 0;
  }
  *init = qp->init;
  pthread_mutex_unlock(&fabric);
  return 0;
}

/* ---- memory */

static bool reaches(const struct ibv_mr *mr, uint64_t address, uint64_t length) {
  uint64_t start = (uint64_t)(uintptr_t)mr->addr;
  return address >= start && length <= mr->length && address - start <= mr->length - length;
}

/* The region of local memory, if the request may use it, with these rights. */
static bool is_local(const struct fake_qp *qp, const struct ibv_sge *sge, int access) {
  const struct fake_mr *mr = mr_find(qp->qp.context, sge->lkey);
  return mr && mr->mr.pd == qp->qp.pd && reaches(&mr->mr, sge->addr, sge->length) &&
         (mr->access & access) == access;
}

static bool are_local(const struct fake_qp *qp, const struct ibv_sge *sge, int count,
                      int access) {
  for (int i = 0; i < count; i++) {
    if (sge[i].length && !is_local(qp, &sge[i], access)) {
      return false;
    }
  }
  return true;
}

static bool is_remote(const struct fake_qp *peer, uint32_t key, uint64_t address, uint64_t length,
                      int access) {
  const struct fake_mr *mr = mr_find(peer->qp.context, key);
  return mr && mr->mr.pd == peer->qp.pd && mr->access & access &&
         reaches(&mr->mr, address, length);
}

#define AT(address) ((uint8_t *)(uintptr_t)(address))

/* Gathers into one piece of memory, or scatters from it. */
static void gather(const struct send *send, uint8_t *to) {
  if (send->inlined) {
    memcpy(to, send->inlined, send->length);
    return;
  }
  for (int i = 0; i < send->wr.num_sge; i++) {
    memmove(to, AT(send->sge[i].addr), send->sge[i].length);
    to += send->sge[i].length;
  }
}

static void scatter(const struct ibv_sge *sge, int count, const uint8_t *from, uint32_t length) {
  for (int i = 0; i < count && length; i++) {
    uint32_t part = sge[i].length < length ? sge[i].length : length;
    memmove(AT(sge[i].addr), from, part);
    from += part;
    length -= part;
  }
}

/* ---- the responder */

/* What a request comes to, if not to a status. */
enum { WAITS_FOR_PEER = -1, WAITS_FOR_RECEIVE = -2 };

/* Of a queue pair that is its own peer the requester comes first: its request tells why. */
static void fail_peer(struct fake_qp *peer, const struct fake_qp *qp) {
  if (peer != qp) {
    qp_fail(peer);
  }
}

static int refused(struct fake_qp *peer, const struct fake_qp *qp, enum ibv_wc_status status,
                   enum ibv_event_type event) {
  raise_async(peer->qp.context, event, &peer->qp);
  fail_peer(peer, qp);
  return (int)status;
}

static struct receive_queue *receives_of(struct fake_qp *qp) {
  return qp->qp.srq ? &((struct fake_srq *)qp->qp.srq)->queue : &qp->receives;
}

static int receive(struct fake_qp *peer, const struct fake_qp *qp, const struct send *send,
                   bool has_data) {
  struct receive_queue *queue = receives_of(peer);
  if (queue->head == queue->tail) {
    return WAITS_FOR_RECEIVE;
  }
  uint64_t slot = queue->head++;
  struct receive taken = queue->ring[slot % queue->size];
  if (peer->qp.srq) {
    srq_taken((struct fake_srq *)peer->qp.srq);
  }
  uint64_t room = 0;
  for (int i = 0; i < taken.sges; i++) {
    room += taken.sge[i].length;
  }
  struct ibv_wc wc = {.opcode = has_data ? IBV_WC_RECV : IBV_WC_RECV_RDMA_WITH_IMM,
                      .byte_len = send->length,
                      .src_qp = qp->qp.qp_num};
  if (has_data && (send->length > room || !are_local(peer, taken.sge, taken.sges, IBV_ACCESS_LOCAL_WRITE))) {
    bool is_long = send->length > room;
    complete(peer, true, taken.id, slot, is_long ? IBV_WC_LOC_LEN_ERR : IBV_WC_LOC_PROT_ERR, wc,
             false);
    fail_peer(peer, qp);
    return is_long ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_OP_ERR;
  }
  if (has_data && send->length) {
    uint8_t *bytes = malloc(send->length);
    gather(send, bytes);
    scatter(taken.sge, taken.sges, bytes, send->length);
    free(bytes);
  }
  if (send->wr.opcode == IBV_WR_SEND_WITH_IMM || send->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    wc.wc_flags = IBV_WC_WITH_IMM;
    wc.imm_data = send->wr.imm_data;
  }
  complete(peer, true, taken.id, slot, IBV_WC_SUCCESS, wc,
           send->wr.send_flags & IBV_SEND_SOLICITED);
  return IBV_WC_SUCCESS;
}

static int respond_to_write(struct fake_qp *peer, const struct fake_qp *qp,
                            const struct send *send) {
  if (!(peer->attr.qp_access_flags & IBV_ACCESS_REMOTE_WRITE)) {
    return refused(peer, qp, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  }
  uint64_t to = send->wr.wr.rdma.remote_addr;
  if (send->length &&
      !is_remote(peer, send->wr.wr.rdma.rkey, to, send->length, IBV_ACCESS_REMOTE_WRITE)) {
    return refused(peer, qp, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  }
  if (send->wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    int result = receive(peer, qp, send, false);
    if (result) {
      return result;
    }
  }
  if (send->length) {
    gather(send, AT(to));
  }
  return IBV_WC_SUCCESS;
}

static int respond_to_read(struct fake_qp *peer, const struct fake_qp *qp,
                           const struct send *send) {
  if (!(peer->attr.qp_access_flags & IBV_ACCESS_REMOTE_READ) || !peer->attr.max_dest_rd_atomic) {
    return refused(peer, qp, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  }
  uint64_t from = send->wr.wr.rdma.remote_addr;
  if (send->length &&
      !is_remote(peer, send->wr.wr.rdma.rkey, from, send->length, IBV_ACCESS_REMOTE_READ)) {
    return refused(peer, qp, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  }
  scatter(send->sge, send->wr.num_sge, AT(from), send->length);
  return IBV_WC_SUCCESS;
}

static int respond_to_atomic(struct fake_qp *peer, const struct fake_qp *qp,
                             const struct send *send) {
  uint64_t at = send->wr.wr.atomic.remote_addr;
  if (!(peer->attr.qp_access_flags & IBV_ACCESS_REMOTE_ATOMIC) || !peer->attr.max_dest_rd_atomic ||
      at % 8) {
    return refused(peer, qp, IBV_WC_REM_INV_REQ_ERR, IBV_EVENT_QP_REQ_ERR);
  }
  if (!is_remote(peer, send->wr.wr.atomic.rkey, at, 8, IBV_ACCESS_REMOTE_ATOMIC)) {
    return refused(peer, qp, IBV_WC_REM_ACCESS_ERR, IBV_EVENT_QP_ACCESS_ERR);
  }
  uint64_t *target = (uint64_t *)(uintptr_t)at;
  uint64_t before = *target;
  if (send->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    *target += send->wr.wr.atomic.compare_add;
  } else if (before == send->wr.wr.atomic.compare_add) {
    *target = send->wr.wr.atomic.swap;
  }
  scatter(send->sge, send->wr.num_sge, (uint8_t *)&before, sizeof before);
  return IBV_WC_SUCCESS;
}

static int respond(struct fake_qp *peer, const struct fake_qp *qp, const struct send *send) {
  if (peer->qp.state == IBV_QPS_RTR && !peer->established) {
    peer->established = true;
    raise_async(peer->qp.context, IBV_EVENT_COMM_EST, &peer->qp);
  }
  switch (send->wr.opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      return receive(peer, qp, send, true);
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return respond_to_write(peer, qp, send);
    case IBV_WR_RDMA_READ:
      return respond_to_read(peer, qp, send);
    default:
      return respond_to_atomic(peer, qp, send);
  }
}

/* ---- the requester */

static bool is_atomic(const struct send *send) {
  return send->wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
         send->wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static enum ibv_wc_opcode completed(enum ibv_wr_opcode opcode) {
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      return IBV_WC_RDMA_WRITE;
    case IBV_WR_RDMA_READ:
      return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP:
      return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      return IBV_WC_FETCH_ADD;
    default:
      return IBV_WC_SEND;
  }
}

static const struct gid *own_gid(const struct fake_qp *qp) {
  const struct ibv_ah_attr *way = &qp->attr.ah_attr;
  return &profile_of(qp->qp.context)->gids[way->port_num - 1][way->grh.sgid_index];
}

/*
 * Whether packets find the peer: by the LID of its port within a subnet of InfiniBand, by the GID that
 * it has, of the same type, on Ethernet. Of iWARP a stream does.
 */
static bool is_reached(const struct fake_qp *qp, const struct fake_qp *peer) {
  const struct profile *profile = profile_of(peer->qp.context);
  const struct ibv_ah_attr *way = &qp->attr.ah_attr;
  const struct ibv_port_attr *port = &profile->ports[peer->attr.ah_attr.port_num - 1];
  if (profile->transport == IBV_TRANSPORT_IWARP) {
    return true;
  }
  if (port->link_layer == IBV_LINK_LAYER_INFINIBAND) {
    return way->dlid == port->lid;
  }
  const struct gid *gid = own_gid(peer);
  return way->is_global && gid->type == own_gid(qp)->type &&
         !memcmp(&gid->gid, &way->grh.dgid, sizeof gid->gid);
}

/* The peer, if it is there and waits for this packet. */
static struct fake_qp *peer_of(const struct fake_qp *qp) {
  struct fake_qp *peer = qp_find(qp->attr.dest_qp_num);
  bool ready = peer && !is_gone(peer->qp.context) && peer->qp.state >= IBV_QPS_RTR &&
               peer->qp.state <= IBV_QPS_SQE && is_reached(qp, peer);
  return ready && peer->attr.dest_qp_num == qp->qp.qp_num && peer->expected_psn == qp->send_psn
             ? peer
             : NULL;
}

/* What is wrong with a request at home, or IBV_WC_SUCCESS. */
static int refused_at_home(const struct fake_qp *qp, const struct send *send) {
  struct ibv_port_attr *port = &profile_of(qp->qp.context)->ports[qp->attr.ah_attr.port_num - 1];
  bool is_read = send->wr.opcode == IBV_WR_RDMA_READ;
  if (send->length > port->max_msg_sz || (is_atomic(send) && send->length < 8)) {
    return IBV_WC_LOC_LEN_ERR;
  }
  int access = is_read || is_atomic(send) ? IBV_ACCESS_LOCAL_WRITE : 0;
  if (is_read && profile_of(qp->qp.context)->remote_read_sinks) {
    access |= IBV_ACCESS_REMOTE_WRITE;
  }
  bool may = send->inlined || are_local(qp, send->sge, send->wr.num_sge, access);
  return may ? IBV_WC_SUCCESS : IBV_WC_LOC_PROT_ERR;
}

static int request_of_peer(struct fake_qp *qp, const struct send *send) {
  struct fake_qp *peer = peer_of(qp);
  if (!peer) {
    return WAITS_FOR_PEER;
  }
  int result = respond(peer, qp, send);
  if (result == IBV_WC_SUCCESS) {
    peer->expected_psn++;
    qp->send_psn++;
  }
  return result;
}

static int request(struct fake_qp *qp, const struct send *send) {
  int result = refused_at_home(qp, send);
  return result ? result : request_of_peer(qp, send);
}

/* Codes 0 to 31 of the minimum RNR NAK timer, in units of 10 microseconds (IBTA, table 45). */
static const uint32_t rnr_timers[] = {65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,
                                      48,    64,  96,  128, 192,  256,  384,  512,  768,  1024, 1536,
                                      2048,  3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
                                      49152};

static void wait_for(struct fake_qp *qp, int what) {
  int64_t time = now();
  qp->waits_for_receive = what == WAITS_FOR_RECEIVE;
  if (what == WAITS_FOR_RECEIVE) {
    const struct fake_qp *peer = peer_of(qp);
    qp->due = time + rnr_timers[peer->attr.min_rnr_timer & 31] * 10 * NANOS_PER_MICRO;
  } else {
    qp->due = qp->attr.timeout ? time + (4096LL << qp->attr.timeout) : NEVER;
  }
  timer_set();
}

/* What to do about a request that cannot be done now: wait, or give up with a status. */
static int wait_or_fail(struct fake_qp *qp, int result) {
  bool rnr = result == WAITS_FOR_RECEIVE;
  int most = rnr ? qp->attr.rnr_retry : qp->attr.retry_cnt;
  bool again = rnr == qp->waits_for_receive && qp->tries;
  int tries = again ? qp->tries : 0;
  if (!(rnr && most == 7) && tries >= most + (rnr ? 0 : 1)) {
    return rnr ? IBV_WC_RNR_RETRY_EXC_ERR : IBV_WC_RETRY_EXC_ERR;
  }
  qp->tries = tries + 1;
  wait_for(qp, result);
  return result;
}

static void done(struct fake_qp *qp, const struct send *send, int status) {
  qp->tries = 0;
  uint64_t slot = qp->head++;
  struct ibv_wc wc = {.opcode = completed(send->wr.opcode), .byte_len = send->length};
  if (status || qp->init.sq_sig_all || send->wr.send_flags & IBV_SEND_SIGNALED) {
    complete(qp, false, send->wr.wr_id, slot, (enum ibv_wc_status)status, wc, false);
  }
}

/* Answers whether the next one may begin. */
static bool run_one(struct fake_qp *qp, const struct send *send) {
  int result = request(qp, send);
  if (result < 0) {
    result = wait_or_fail(qp, result);
  }
  if (result < 0 || qp->qp.state == IBV_QPS_ERR) {
    return false;
  }
  done(qp, send, result);
  if (result) {
    qp_fail(qp);
  }
  return !result;
}

/*
 * Likewise, on a stream: a SEND or WRITE is done when the stream has it, and what the peer refuses, or
 * has no receive for, ends the connection (RFC 5040, section 5.5; RFC 5041, section 7).
 */
static bool run_on_stream(struct fake_qp *qp, const struct send *send) {
  bool is_read = send->wr.opcode == IBV_WR_RDMA_READ;
  int status = refused_at_home(qp, send);
  if (!status && awaits_other_end(qp)) {
    return false;
  }
  if (status || !is_read) {
    done(qp, send, status);
  }
  if (!status) {
    status = request_of_peer(qp, send);
    if (!status && is_read) {
      done(qp, send, status);
    }
  }
  if (status) {
    qp_fail(qp);
  }
  return !status;
}

/* ---- datagrams of InfiniBand */

/* In each subnet. */
#define ROUTER_LID 1

#define GRH_LENGTH 40
#define NEXT_IS_BTH 0x1b

static const struct ibv_port_attr *port_of(const struct fake_qp *qp) {
  return &profile_of(qp->qp.context)->ports[qp->attr.port_num - 1];
}

static const union ibv_gid *gid_of_port(const struct fake_qp *qp, int index) {
  return &profile_of(qp->qp.context)->gids[qp->attr.port_num - 1][index].gid;
}

/* Whether a datagram comes to the peer's port: by its LID within the subnet, else by a router and its GID. */
static bool is_led_to(const struct fake_qp *qp, const struct ibv_ah_attr *way,
                      const struct fake_qp *peer) {
  const union ibv_gid *theirs = gid_of_port(peer, 0);
  bool is_near = theirs->global.subnet_prefix == gid_of_port(qp, 0)->global.subnet_prefix;
  return is_near ? way->dlid == port_of(peer)->lid
                 : way->is_global && way->dlid == ROUTER_LID &&
                       !memcmp(&way->grh.dgid, theirs, sizeof *theirs);
}

static bool is_for(const struct fake_qp *qp, const struct send *send, const struct ibv_ah_attr *way,
                   const struct fake_qp *peer) {
  uint32_t asked = send->wr.wr.ud.remote_qkey;
  uint32_t key = asked & 0x80000000 ? qp->attr.qkey : asked;
  return peer->qp.qp_type == IBV_QPT_UD && peer->qp.state >= IBV_QPS_RTR &&
         peer->qp.state <= IBV_QPS_SQE && peer->attr.qkey == key &&
         port_of(peer)->link_layer == IBV_LINK_LAYER_INFINIBAND && is_led_to(qp, way, peer);
}

/* The GRH and the message, as they come; where there is no GRH, what stands there means nothing. */
static void write_datagram(const struct fake_qp *qp, const struct send *send,
                           const struct ibv_ah_attr *way, uint8_t *to) {
  memset(to, 0xee, GRH_LENGTH);
  if (way->is_global) {
    struct ibv_grh header = {
        .version_tclass_flow =
            htonl(6u << 28 | (uint32_t)way->grh.traffic_class << 20 | way->grh.flow_label),
        .paylen = htons((uint16_t)send->length),
        .next_hdr = NEXT_IS_BTH,
        .hop_limit = way->grh.hop_limit,
        .sgid = *gid_of_port(qp, way->grh.sgid_index),
        .dgid = way->grh.dgid};
    memcpy(to, &header, sizeof header);
  }
  gather(send, to + GRH_LENGTH);
}

/* Without a receive that has room for it, it is lost. */
static void deliver(struct fake_qp *qp, const struct send *send, const struct ibv_ah_attr *way) {
  struct fake_qp *peer = qp_find(send->wr.wr.ud.remote_qpn);
  struct receive_queue *queue = peer ? receives_of(peer) : NULL;
  if (!peer || !is_for(qp, send, way, peer) || queue->head == queue->tail ||
      send->length > 128u << port_of(qp)->active_mtu) {
    return;
  }
  struct receive *taken = &queue->ring[queue->head % queue->size];
  uint64_t room = 0;
  for (int i = 0; i < taken->sges; i++) {
    room += taken->sge[i].length;
  }
  if (room < GRH_LENGTH + send->length ||
      !are_local(peer, taken->sge, taken->sges, IBV_ACCESS_LOCAL_WRITE)) {
    return;
  }
  uint8_t *bytes = malloc(GRH_LENGTH + send->length);
  write_datagram(qp, send, way, bytes);
  scatter(taken->sge, taken->sges, bytes, GRH_LENGTH + send->length);
  free(bytes);
  bool is_near = gid_of_port(peer, 0)->global.subnet_prefix == gid_of_port(qp, 0)->global.subnet_prefix;
  struct ibv_wc wc = {.opcode = IBV_WC_RECV,
                      .byte_len = GRH_LENGTH + send->length,
                      .src_qp = qp->qp.qp_num,
                      .wc_flags = way->is_global ? IBV_WC_GRH : 0,
                      .slid = is_near ? port_of(qp)->lid : ROUTER_LID,
                      .sl = way->sl};
  uint64_t slot = queue->head++;
  if (peer->qp.srq) {
    srq_taken((struct fake_srq *)peer->qp.srq);
  }
  complete(peer, true, taken->id, slot, IBV_WC_SUCCESS, wc,
           send->wr.send_flags & IBV_SEND_SOLICITED);
}

/* Likewise, a datagram: a driver reads its way when it is posted. */
static bool run_datagram(struct fake_qp *qp, const struct send *send) {
  const struct fake_ah *handle = (const struct fake_ah *)send->wr.wr.ud.ah;
  bool has_way = handle->ah.context == qp->qp.context;
  if (has_way && profile_of(qp->qp.context)->delivers_datagrams &&
      handle->way.port_num == qp->attr.port_num &&
      (send->inlined || are_local(qp, send->sge, send->wr.num_sge, 0))) {
    deliver(qp, send, &handle->way);
  }
  done(qp, send, has_way ? IBV_WC_SUCCESS : IBV_WC_LOC_QP_OP_ERR);
  return has_way;
}

static bool run_first(struct fake_qp *qp, const struct send *send) {
  if (qp->qp.qp_type == IBV_QPT_UD) {
    return run_datagram(qp, send);
  }
  return is_stream(qp) ? run_on_stream(qp, send) : run_one(qp, send);
}

static void run(struct fake_qp *qp) {
  while (qp->head < qp->tail && qp->due == NEVER && !is_gone(qp->qp.context)) {
    struct send *send = &qp->ring[qp->head % qp->init.cap.max_send_wr];
    bool draining = qp->qp.state == IBV_QPS_SQD && send->begun;
    if (qp->qp.state != IBV_QPS_RTS && !draining) {
      break;
    }
    send->begun = true;
    if (!run_first(qp, send)) {
      return;
    }
  }
  if (qp->qp.state == IBV_QPS_SQD && qp->due == NEVER && qp->drain_asked) {
    qp->drain_asked = false;
    raise_async(qp->qp.context, IBV_EVENT_SQ_DRAINED, &qp->qp);
  }
}

int64_t qp_timers(int64_t time) {
  int64_t next = NEVER;
  for (int i = 0; i < NUMBERS; i++) {
    struct fake_qp *qp = pairs[i];
    if (qp && qp->due <= time) {
      qp->due = NEVER;
      run(qp);
    }
    if (qp && qp->due < next) {
      next = qp->due;
    }
  }
  return next;
}

/* ---- posting */

static int put(struct fake_qp *qp, const struct ibv_send_wr *wr) {
  if (fault("ibv_post_send/request")) {
    return errno;
  }
  const struct profile *profile = profile_of(qp->qp.context);
  const struct ibv_qp_cap *cap = &qp->init.cap;
  bool immediate = wr->opcode == IBV_WR_SEND_WITH_IMM || wr->opcode == IBV_WR_RDMA_WRITE_WITH_IMM;
  bool atomic = wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  if (qp->qp.state < IBV_QPS_RTS || wr->opcode > IBV_WR_ATOMIC_FETCH_AND_ADD || wr->num_sge < 0 ||
      (uint32_t)wr->num_sge > cap->max_send_sge ||
      (immediate && profile->transport == IBV_TRANSPORT_IWARP) ||
      (atomic && profile->attr.atomic_cap == IBV_ATOMIC_NONE)) {
    return EINVAL;
  }
  if (qp->tail - qp->freed >= cap->max_send_wr) {
    return ENOMEM;
  }
  uint64_t slot = qp->tail % cap->max_send_wr;
  struct send *send = &qp->ring[slot];
  *send = (struct send){.wr = *wr, .sge = &qp->sges[slot * cap->max_send_sge]};
  uint64_t length = 0;
  for (int i = 0; i < wr->num_sge; i++) {
    send->sge[i] = wr->sg_list[i];
    length += wr->sg_list[i].length;
  }
  send->length = length > UINT32_MAX ? UINT32_MAX : (uint32_t)length;
  if (wr->send_flags & IBV_SEND_INLINE) {
    if (length > cap->max_inline_data) {
      return EINVAL;
    }
    uint8_t *to = &qp->inlined[slot * cap->max_inline_data];
    gather(send, to);
    send->inlined = to;
    qp->inline_sends++;
  }
  qp->tail++;
  return 0;
}

int qp_post_send(struct ibv_qp *pair, struct ibv_send_wr *wr, struct ibv_send_wr **bad) {
  struct fake_qp *qp = (struct fake_qp *)pair;
  if (fault("ibv_post_send")) {
    if (!profile_of(pair->context)->leaves_bad_unset) {
      *bad = wr;
    }
    return errno;
  }
  pthread_mutex_lock(&fabric);
  int error = 0;
  qp->posts++;
  for (; wr && !error; wr = wr->next) {
    error = put(qp, wr);
    if (error) {
      *bad = wr;
    }
  }
  if (pair->state == IBV_QPS_ERR && !profile_of(pair->context)->never_flushes_late) {
    flush(qp);
  }
  run(qp);
  pthread_mutex_unlock(&fabric);
  return error;
}

int qp_post_recv(struct ibv_qp *pair, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  struct fake_qp *qp = (struct fake_qp *)pair;
  if (fault("ibv_post_recv")) {
    if (!profile_of(pair->context)->leaves_bad_unset) {
      *bad = wr;
    }
    return errno;
  }
  pthread_mutex_lock(&fabric);
  int error = EINVAL;
  if (pair->state == IBV_QPS_RESET || pair->srq) {
    *bad = wr;
  } else {
    error = receives_post(&qp->receives, wr, bad);
  }
  const struct profile *profile = profile_of(pair->context);
  if (pair->state == IBV_QPS_ERR && !profile->flushes_late && !profile->never_flushes_late) {
    flush(qp);
  }
  pthread_mutex_unlock(&fabric);
  return error;
}
