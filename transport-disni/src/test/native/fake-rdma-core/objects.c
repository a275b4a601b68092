// SPDX-License-Identifier: Apache-2.0
/* Protection domains, memory regions, completion queues and channels, shared receive queues. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "fake.h"

static void *refuse(int error) {
  errno = error;
  return NULL;
}

/* ---- protection domains and regions */

EXPORT struct ibv_pd *ibv_alloc_pd(struct ibv_context *context) {
  FAULT(NULL);
  if (is_gone(context)) {
    return refuse(EIO);
  }
  struct fake_pd *pd = calloc(1, sizeof *pd);
  pd->pd.context = context;
  pthread_mutex_lock(&fabric);
  context_of(context)->objects++;
  verbs_objects++;
  pthread_mutex_unlock(&fabric);
  return &pd->pd;
}

EXPORT int ibv_dealloc_pd(struct ibv_pd *pd) {
  FAULT(errno);
  pthread_mutex_lock(&fabric);
  bool busy = ((struct fake_pd *)pd)->users;
  context_of(pd->context)->objects -= !busy;
  verbs_objects -= !busy;
  pthread_mutex_unlock(&fabric);
  if (busy) {
    return EBUSY;
  }
  free(pd);
  return 0;
}

#define BUCKETS 4096
static struct fake_mr *regions[BUCKETS];

struct fake_mr *mr_find(struct ibv_context *context, uint32_t key) {
  struct fake_mr *mr = regions[key % BUCKETS];
  while (mr && (mr->mr.lkey != key || mr->mr.context != context)) {
    mr = mr->next;
  }
  return mr;
}

static void mr_link(struct fake_mr *mr) {
  do {
    if (getrandom(&mr->mr.lkey, sizeof mr->mr.lkey, 0) != sizeof mr->mr.lkey) {
      abort();
    }
  } while (!mr->mr.lkey || mr_find(mr->mr.context, mr->mr.lkey));
  mr->mr.rkey = mr->mr.lkey;
  mr->next = regions[mr->mr.lkey % BUCKETS];
  regions[mr->mr.lkey % BUCKETS] = mr;
}

static void mr_unlink(struct fake_mr *mr) {
  struct fake_mr **link = &regions[mr->mr.lkey % BUCKETS];
  while (*link != mr) {
    link = &(*link)->next;
  }
  *link = mr->next;
}

static bool is_access(struct ibv_context *context, int access) {
  bool changes = access & (IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
  bool atomic = access & IBV_ACCESS_REMOTE_ATOMIC;
  return (!changes || access & IBV_ACCESS_LOCAL_WRITE) &&
         (!atomic || profile_of(context)->attr.atomic_cap != IBV_ATOMIC_NONE);
}

EXPORT struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *address, size_t length,
                                       uint64_t iova, unsigned access) {
  FAULT(NULL);
  (void)iova;
  if (is_gone(pd->context)) {
    return refuse(EIO);
  }
  if (!is_access(pd->context, (int)access) || length > profile_of(pd->context)->attr.max_mr_size) {
    return refuse(EINVAL);
  }
  struct fake_mr *mr = calloc(1, sizeof *mr);
  mr->mr = (struct ibv_mr){.context = pd->context, .pd = pd, .addr = address, .length = length};
  mr->access = (int)access;
  pthread_mutex_lock(&fabric);
  mr_link(mr);
  ((struct fake_pd *)pd)->users++;
  verbs_objects++;
  pthread_mutex_unlock(&fabric);
  return &mr->mr;
}

EXPORT int ibv_dereg_mr(struct ibv_mr *region) {
  FAULT(errno);
  pthread_mutex_lock(&fabric);
  mr_unlink((struct fake_mr *)region);
  ((struct fake_pd *)region->pd)->users--;
  verbs_objects--;
  pthread_mutex_unlock(&fabric);
  free(region);
  return 0;
}

EXPORT int ibv_rereg_mr(struct ibv_mr *region, int flags, struct ibv_pd *pd, void *address,
                        size_t length, int access) {
  FAULT(IBV_REREG_MR_ERR_CMD);
  struct fake_mr *mr = (struct fake_mr *)region;
  // As libibverbs itself, before it asks the device (verbs.c).
  if ((access && !(flags & IBV_REREG_MR_CHANGE_ACCESS)) ||
      (flags & IBV_REREG_MR_CHANGE_TRANSLATION && (!length || !address))) {
    errno = EINVAL;
    return IBV_REREG_MR_ERR_INPUT;
  }
  int to = flags & IBV_REREG_MR_CHANGE_ACCESS ? access : mr->access;
  if (!profile_of(region->context)->has_rereg || is_gone(region->context) || !flags ||
      !is_access(region->context, to)) {
    errno = profile_of(region->context)->has_rereg ? EINVAL : EOPNOTSUPP;
    return IBV_REREG_MR_ERR_CMD;
  }
  pthread_mutex_lock(&fabric);
  mr_unlink(mr);
  mr->access = to;
  if (flags & IBV_REREG_MR_CHANGE_PD) {
    ((struct fake_pd *)region->pd)->users--;
    region->pd = pd;
    ((struct fake_pd *)pd)->users++;
  }
  if (flags & IBV_REREG_MR_CHANGE_TRANSLATION) {
    region->addr = address;
    region->length = length;
  }
  mr_link(mr);
  pthread_mutex_unlock(&fabric);
  return 0;
}

/* ---- completion channels and queues */

EXPORT struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context) {
  FAULT(NULL);
  if (is_gone(context)) {
    return refuse(EIO);
  }
  struct fake_channel *made = calloc(1, sizeof *made);
  pthread_mutex_lock(&fabric);
  int failed = events_open(&made->events, EVENT_COMPLETION, context);
  verbs_objects += !failed;
  pthread_mutex_unlock(&fabric);
  if (failed) {
    free(made);
    return NULL;
  }
  made->channel = (struct ibv_comp_channel){.context = context, .fd = made->events.fd};
  return &made->channel;
}

EXPORT int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
  FAULT(errno);
  pthread_mutex_lock(&fabric);
  bool busy = channel->refcnt;
  if (!busy) {
    events_close(&((struct fake_channel *)channel)->events);
    verbs_objects--;
  }
  pthread_mutex_unlock(&fabric);
  if (busy) {
    return EBUSY;
  }
  free(channel);
  return 0;
}

static int rounded(int depth) {
  int size = 1;
  while (size < depth + 1) {
    size *= 2;
  }
  return size - 1;
}

EXPORT struct ibv_cq *ibv_create_cq(struct ibv_context *context, int depth, void *cookie,
                                    struct ibv_comp_channel *channel, int vector) {
  FAULT(NULL);
  if (is_gone(context)) {
    return refuse(EIO);
  }
  if (depth < 1 || depth > profile_of(context)->attr.max_cqe || vector < 0 ||
      vector >= context->num_comp_vectors) {
    return refuse(EINVAL);
  }
  /* As large as an ibv_cq_ex, of which it is the beginning. */
  struct fake_cq *cq = calloc(1, sizeof *cq + sizeof(struct ibv_cq_ex));
  cq->cq = (struct ibv_cq){.context = context, .channel = channel, .cq_context = cookie};
  cq->cq.cqe = rounded(depth);
  cq->vector = vector;
  cq->moderation = -1;
  cq->ring = calloc((size_t)cq->cq.cqe, sizeof *cq->ring);
  pthread_mutex_lock(&fabric);
  context_of(context)->objects++;
  verbs_objects++;
  if (channel) {
    channel->refcnt++;
  }
  pthread_mutex_unlock(&fabric);
  return &cq->cq;
}

EXPORT int ibv_resize_cq(struct ibv_cq *queue, int depth) {
  FAULT(errno);
  struct fake_cq *cq = (struct fake_cq *)queue;
  if (!profile_of(queue->context)->has_resize) {
    return EOPNOTSUPP;
  }
  if (depth < 1 || depth > profile_of(queue->context)->attr.max_cqe) {
    return EINVAL;
  }
  pthread_mutex_lock(&fabric);
  uint64_t held = cq->tail - cq->head;
  int size = rounded(depth);
  if (held > (uint64_t)size) {
    pthread_mutex_unlock(&fabric);
    return EINVAL;
  }
  struct completion *ring = calloc((size_t)size, sizeof *ring);
  for (uint64_t i = 0; i < held; i++) {
    ring[i] = cq->ring[(cq->head + i) % (uint64_t)queue->cqe];
  }
  free(cq->ring);
  cq->ring = ring;
  cq->head = 0;
  cq->tail = held;
  queue->cqe = size;
  pthread_mutex_unlock(&fabric);
  return 0;
}

/* Waits, as libibverbs does, until all events that were told are acknowledged. */
EXPORT int ibv_destroy_cq(struct ibv_cq *queue) {
  FAULT(errno);
  struct fake_cq *cq = (struct fake_cq *)queue;
  pthread_mutex_lock(&fabric);
  if (cq->users) {
    pthread_mutex_unlock(&fabric);
    return EBUSY;
  }
  if (queue->channel) {
    events_forget(&((struct fake_channel *)queue->channel)->events, queue);
    queue->channel->refcnt--;
  }
  events_forget(&context_of(queue->context)->async, queue);
  while (queue->comp_events_completed != cq->events_told ||
         queue->async_events_completed != cq->async_told) {
    pthread_cond_wait(&changed, &fabric);
  }
  context_of(queue->context)->objects--;
  verbs_objects--;
  pthread_mutex_unlock(&fabric);
  free(cq->ring);
  free(cq);
  return 0;
}

EXPORT int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **queue,
                            void **cookie) {
  FAULT(-1);
  struct event *event = events_take_locked(&((struct fake_channel *)channel)->events);
  if (!event) {
    return -1;
  }
  *queue = event->object;
  *cookie = (*queue)->cq_context;
  ((struct fake_cq *)*queue)->events_told++;
  pthread_mutex_unlock(&fabric);
  free(event);
  return 0;
}

EXPORT void ibv_ack_cq_events(struct ibv_cq *queue, unsigned count) {
  pthread_mutex_lock(&fabric);
  queue->comp_events_completed += count;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&fabric);
}

/* Kept back by the script, in the order in which they came. */
static struct completion *deferred;
static bool defers;

static void tell(const struct completion *completion) {
  struct ibv_cq *queue = completion->cq;
  struct fake_cq *cq = (struct fake_cq *)queue;
  if (cq->tail - cq->head == (uint64_t)queue->cqe) {
    if (!cq->overrun) {
      cq->overrun = true;
      raise_async(queue->context, IBV_EVENT_CQ_ERR, queue);
      cq_overran(queue);
    }
    return;
  }
  cq->ring[cq->tail++ % (uint64_t)queue->cqe] = *completion;
  bool wanted = cq->armed == ARMED ||
                (cq->armed == ARMED_SOLICITED && (completion->solicited || completion->wc.status));
  if (queue->channel && wanted) {
    struct event *event = calloc(1, sizeof *event);
    event->object = queue;
    cq->armed = UNARMED;
    events_add(&((struct fake_channel *)queue->channel)->events, event);
  }
}

void cq_push(const struct completion *completion) {
  if (!defers) {
    tell(completion);
    return;
  }
  struct completion **link = &deferred;
  while (*link) {
    link = &(*link)->next;
  }
  *link = malloc(sizeof **link);
  **link = *completion;
}

void completions_defer(void) {
  defers = true;
}

/* Of one queue pair, or of all if it has no number; on one queue, or on any. */
static int take(uint32_t qp_num, const struct ibv_cq *on, int most,
                void (*visit)(const struct completion *)) {
  int taken = 0;
  for (struct completion **link = &deferred; *link && taken < most;) {
    struct completion *each = *link;
    if ((qp_num && each->wc.qp_num != qp_num) || (on && each->cq != on)) {
      link = &each->next;
      continue;
    }
    *link = each->next;
    visit(each);
    free(each);
    taken++;
  }
  return taken;
}

bool completions_tell(uint32_t qp_num, int count) {
  return take(qp_num, NULL, count, tell) > 0;
}

void completions_release(void) {
  defers = false;
  take(0, NULL, INT32_MAX, tell);
}

static void drop(const struct completion *each) {
  if (each->of_receive && each->qp->qp.srq) {
    ((struct fake_srq *)each->qp->qp.srq)->queue.freed++;
  }
}

void cq_clean(struct ibv_cq *queue, const struct fake_qp *qp) {
  take(qp->qp.qp_num, queue, INT32_MAX, drop);
  struct fake_cq *cq = (struct fake_cq *)queue;
  uint64_t to = cq->head;
  for (uint64_t from = cq->head; from < cq->tail; from++) {
    struct completion *each = &cq->ring[from % (uint64_t)queue->cqe];
    if (each->qp == qp) {
      drop(each);
    } else {
      cq->ring[to++ % (uint64_t)queue->cqe] = *each;
    }
  }
  cq->tail = to;
}

/* ---- receives */

void receives_init(struct receive_queue *queue, uint32_t size, uint32_t max_sge) {
  *queue = (struct receive_queue){.size = size, .max_sge = max_sge};
  queue->ring = calloc(size ? size : 1, sizeof *queue->ring);
  queue->sges = calloc((size_t)size * max_sge + 1, sizeof *queue->sges);
}

void receives_destroy(struct receive_queue *queue) {
  free(queue->ring);
  free(queue->sges);
}

int receives_post(struct receive_queue *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  queue->posts++;
  for (; wr; wr = wr->next) {
    *bad = wr;
    if (fault("ibv_post_recv/request")) {
      return errno;
    }
    if (queue->tail - queue->freed >= queue->size) {
      return ENOMEM;
    }
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > queue->max_sge) {
      return EINVAL;
    }
    uint64_t slot = queue->tail++ % queue->size;
    struct receive *receive = &queue->ring[slot];
    *receive = (struct receive){
        .id = wr->wr_id, .sges = wr->num_sge, .sge = &queue->sges[slot * queue->max_sge]};
    memcpy(receive->sge, wr->sg_list, (size_t)wr->num_sge * sizeof *wr->sg_list);
  }
  return 0;
}

/* ---- shared receive queues */

static struct fake_srq *srqs;

bool srqs_break(const char *name) {
  bool any = false;
  for (struct fake_srq *srq = srqs; srq; srq = srq->next) {
    if (!strcmp(srq->srq.context->device->name, name)) {
      raise_async(srq->srq.context, IBV_EVENT_SRQ_ERR, &srq->srq);
      any = true;
    }
  }
  return any;
}

EXPORT struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *wish) {
  FAULT(NULL);
  const struct ibv_device_attr *limits = &profile_of(pd->context)->attr;
  if (is_gone(pd->context)) {
    return refuse(EIO);
  }
  if (wish->attr.max_wr > (uint32_t)limits->max_srq_wr ||
      wish->attr.max_sge > (uint32_t)limits->max_srq_sge) {
    return refuse(EINVAL);
  }
  struct fake_srq *srq = calloc(1, sizeof *srq);
  srq->srq.context = pd->context;
  srq->srq.pd = pd;
  receives_init(&srq->queue, wish->attr.max_wr, wish->attr.max_sge);
  pthread_mutex_lock(&fabric);
  ((struct fake_pd *)pd)->users++;
  srq->next = srqs;
  srqs = srq;
  verbs_objects++;
  pthread_mutex_unlock(&fabric);
  return &srq->srq;
}

EXPORT int ibv_modify_srq(struct ibv_srq *queue, struct ibv_srq_attr *attr, int mask) {
  FAULT(errno);
  struct fake_srq *srq = (struct fake_srq *)queue;
  if (!(mask & IBV_SRQ_LIMIT) || attr->srq_limit > srq->queue.size || is_gone(queue->context)) {
    return EINVAL;
  }
  pthread_mutex_lock(&fabric);
  srq->limit = attr->srq_limit;
  pthread_mutex_unlock(&fabric);
  return 0;
}

EXPORT int ibv_query_srq(struct ibv_srq *queue, struct ibv_srq_attr *attr) {
  FAULT(errno);
  struct fake_srq *srq = (struct fake_srq *)queue;
  pthread_mutex_lock(&fabric);
  *attr = (struct ibv_srq_attr){
      .max_wr = srq->queue.size, .max_sge = srq->queue.max_sge, .srq_limit = srq->limit};
  pthread_mutex_unlock(&fabric);
  return 0;
}

EXPORT int ibv_destroy_srq(struct ibv_srq *queue) {
  FAULT(errno);
  struct fake_srq *srq = (struct fake_srq *)queue;
  pthread_mutex_lock(&fabric);
  if (srq->users) {
    pthread_mutex_unlock(&fabric);
    return EBUSY;
  }
  events_forget(&context_of(queue->context)->async, queue);
  while (queue->events_completed != srq->async_told) {
    pthread_cond_wait(&changed, &fabric);
  }
  ((struct fake_pd *)queue->pd)->users--;
  struct fake_srq **link = &srqs;
  while (*link != srq) {
    link = &(*link)->next;
  }
  *link = srq->next;
  verbs_objects--;
  pthread_mutex_unlock(&fabric);
  receives_destroy(&srq->queue);
  free(srq);
  return 0;
}

void srq_taken(struct fake_srq *srq) {
  if (srq->limit && srq->queue.tail - srq->queue.head < srq->limit) {
    srq->limit = 0;
    raise_async(srq->srq.context, IBV_EVENT_SRQ_LIMIT_REACHED, &srq->srq);
  }
}

/* ---- address handles: refused where there is no way */

EXPORT struct ibv_ah *ibv_create_ah(struct ibv_pd *pd, struct ibv_ah_attr *attr) {
  FAULT(NULL);
  const struct profile *profile = profile_of(pd->context);
  if (attr->port_num < 1 || attr->port_num > profile->attr.phys_port_cnt ||
      !is_way(profile, attr)) {
    return refuse(EINVAL);
  }
  struct fake_ah *made = calloc(1, sizeof *made);
  *made = (struct fake_ah){.ah = {.context = pd->context, .pd = pd}, .way = *attr};
  verbs_objects++;
  return &made->ah;
}

EXPORT int ibv_destroy_ah(struct ibv_ah *handle) {
  FAULT(errno);
  verbs_objects--;
  free(handle);
  return 0;
}
