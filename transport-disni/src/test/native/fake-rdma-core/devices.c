// SPDX-License-Identifier: Apache-2.0
/* Devices and what can be asked of them; their asynchronous events; librdmacm's list of them. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"

pthread_mutex_t fabric = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
struct device *devices[MAX_DEVICES];
_Atomic int verbs_objects, cm_objects, gid_queries;

static struct profile profiles[MAX_DEVICES];

static void add(struct profile *profile) {
  for (int i = 0; i < MAX_DEVICES; i++) {
    if (!devices[i]) {
      struct device *device = calloc(1, sizeof *device);
      device->profile = profile;
      device->device.transport_type = profile->transport;
      device->device.node_type =
          profile->transport == IBV_TRANSPORT_IWARP ? IBV_NODE_RNIC : IBV_NODE_CA;
      snprintf(device->device.name, sizeof device->device.name, "%s", profile->name);
      devices[i] = device;
      return;
    }
  }
  abort();
}

static int is_file(const struct dirent *entry) {
  return entry->d_name[0] != '.';
}

/* FAKE_RDMA_CORE: the folder of profiles, a file each. */
__attribute__((constructor)) static void read_profiles(void) {
  const char *folder = getenv("FAKE_RDMA_CORE");
  struct dirent **files = NULL;
  int count = folder ? scandir(folder, &files, is_file, alphasort) : 0;
  for (int i = 0; i < count; i++) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, files[i]->d_name);
    if (i < MAX_DEVICES && profile_read(&profiles[i], path)) {
      add(&profiles[i]);
    }
    free(files[i]);
  }
  free(files);
}

struct device *device_at(const union ibv_gid *gid, uint8_t *port, int *index) {
  struct device *found = NULL;
  for (int i = 0; i < MAX_DEVICES; i++) {
    struct device *device = devices[i];
    for (int p = 0; device && p < device->profile->attr.phys_port_cnt; p++) {
      for (int g = 0; g < MAX_GIDS; g++) {
        const struct gid *have = &device->profile->gids[p][g];
        bool fits = have->set && !memcmp(&have->gid, gid, sizeof *gid);
        if (fits && (!found || have->type == IBV_GID_TYPE_ROCE_V2)) {
          found = device;
          *port = (uint8_t)(p + 1);
          *index = g;
        }
      }
    }
  }
  return found;
}

/* ---- contexts */

static struct ibv_mw *alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type) {
  if (!profile_of(pd->context)->has_mw) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  struct ibv_mw *window = calloc(1, sizeof *window);
  *window = (struct ibv_mw){.context = pd->context, .pd = pd, .type = type};
  verbs_objects++;
  return window;
}

static int dealloc_mw(struct ibv_mw *window) {
  verbs_objects--;
  free(window);
  return 0;
}

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind) {
  (void)qp, (void)mw, (void)bind;
  return EOPNOTSUPP;
}

static int query_port(struct ibv_context *context, uint8_t number, struct ibv_port_attr *attr,
                      size_t size) {
  struct profile *profile = profile_of(context);
  if (fault("ibv_query_port")) {
    return errno;
  }
  if (is_gone(context)) {
    return EIO;
  }
  if (number < 1 || number > profile->attr.phys_port_cnt) {
    return EINVAL;
  }
  pthread_mutex_lock(&fabric);
  memcpy(attr, &profile->ports[number - 1],
         size < sizeof(struct ibv_port_attr) ? size : sizeof(struct ibv_port_attr));
  pthread_mutex_unlock(&fabric);
  return 0;
}

static int poll_cq(struct ibv_cq *queue, int count, struct ibv_wc *wc) {
  struct fake_cq *cq = (struct fake_cq *)queue;
  if (fault("ibv_poll_cq")) {
    /* CQ_POLL_ERR of mlx4 and mlx5. */
    return -2;
  }
  pthread_mutex_lock(&fabric);
  int polled = 0;
  while (polled < count && cq->head < cq->tail) {
    struct completion *next = &cq->ring[cq->head++ % (uint64_t)cq->cq.cqe];
    if (next->qp) {
      if (!next->of_receive) {
        next->qp->freed = next->slot + 1;
      } else if (next->qp->qp.srq) {
        ((struct fake_srq *)next->qp->qp.srq)->queue.freed++;
      } else {
        next->qp->receives.freed = next->slot + 1;
      }
    }
    wc[polled++] = next->wc;
  }
  pthread_mutex_unlock(&fabric);
  return polled;
}

static int req_notify_cq(struct ibv_cq *queue, int solicited_only) {
  struct fake_cq *cq = (struct fake_cq *)queue;
  if (fault("ibv_req_notify_cq")) {
    return errno;
  }
  pthread_mutex_lock(&fabric);
  if (!solicited_only) {
    cq->armed = ARMED;
  } else if (cq->armed == UNARMED) {
    cq->armed = ARMED_SOLICITED;
  }
  pthread_mutex_unlock(&fabric);
  return 0;
}

/* As mlx5_ib_modify_cq of the kernel, and the dummy operation of libibverbs. */
static int modify_cq(struct ibv_cq *queue, struct ibv_modify_cq_attr *attr) {
  const struct ibv_cq_moderation_caps *most = &profile_of(queue->context)->moderation;
  if (fault("ibv_modify_cq")) {
    return errno;
  }
  if (is_gone(queue->context)) {
    return EIO;
  }
  if (!most->max_cq_count) {
    return EOPNOTSUPP;
  }
  if (attr->attr_mask != IBV_CQ_ATTR_MODERATE || attr->moderate.cq_count > most->max_cq_count ||
      attr->moderate.cq_period > most->max_cq_period) {
    return EINVAL;
  }
  ((struct fake_cq *)queue)->moderation =
      (int64_t)attr->moderate.cq_count << 16 | attr->moderate.cq_period;
  return 0;
}

static int query_device_ex(struct ibv_context *context,
                           const struct ibv_query_device_ex_input *input,
                           struct ibv_device_attr_ex *attr, size_t size) {
  (void)input;
  if (fault("ibv_query_device_ex")) {
    return errno;
  }
  if (is_gone(context)) {
    return EIO;
  }
  struct ibv_device_attr_ex told = {.orig_attr = profile_of(context)->attr,
                                    .cq_mod_caps = profile_of(context)->moderation};
  memcpy(attr, &told, size < sizeof told ? size : sizeof told);
  return 0;
}

static int post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad) {
  if (fault("ibv_post_srq_recv")) {
    return errno;
  }
  pthread_mutex_lock(&fabric);
  int error = receives_post(&((struct fake_srq *)srq)->queue, wr, bad);
  pthread_mutex_unlock(&fabric);
  return error;
}

static struct ibv_cq_ex *create_cq_ex(struct ibv_context *context,
                                      struct ibv_cq_init_attr_ex *wish) {
  if (!profile_of(context)->has_single_threaded) {
    errno = EOPNOTSUPP;
    return NULL;
  }
  /* Of its beginning an ordinary queue. */
  return (struct ibv_cq_ex *)ibv_create_cq(context, (int)wish->cqe, wish->cq_context, wish->channel,
                                           (int)wish->comp_vector);
}

static struct ibv_context *open_context(struct device *device) {
  struct fake_context *made = calloc(1, sizeof *made);
  if (!made || events_open(&made->async, EVENT_ASYNC, NULL)) {
    abort();
  }
  made->device = device;
  made->verbs.sz = sizeof made->verbs;
  made->verbs.query_port = query_port;
  made->verbs.create_cq_ex = create_cq_ex;
  made->verbs.modify_cq = modify_cq;
  made->verbs.query_device_ex = query_device_ex;
  struct ibv_context *context = &made->verbs.context;
  context->abi_compat = __VERBS_ABI_IS_EXTENDED;
  context->device = &device->device;
  context->async_fd = made->async.fd;
  context->cmd_fd = made->async.fd;
  context->num_comp_vectors = 4;
  context->ops.alloc_mw = alloc_mw;
  context->ops.dealloc_mw = dealloc_mw;
  context->ops.bind_mw = bind_mw;
  context->ops.poll_cq = poll_cq;
  context->ops.req_notify_cq = req_notify_cq;
  context->ops.post_send = qp_post_send;
  context->ops.post_recv = qp_post_recv;
  context->ops.post_srq_recv = post_srq_recv;
  device->context = made;
  return context;
}

bool freed_in_use;
/* Of the device that was removed last. */
static char last_removed[IBV_SYSFS_NAME_MAX];
static const struct device *not_freed;

struct ibv_context *context_use(struct device *device) {
  struct ibv_context *context =
      device->context ? &device->context->verbs.context : open_context(device);
  device->context->users++;
  return context;
}

/* Of a device that was removed, librdmacm closes the context when nothing of its own uses it. */
void context_release(struct ibv_context *context) {
  struct fake_context *used = context_of(context);
  if (--used->users == 0 && used->device->removed) {
    freed_in_use |= used->objects != 0;
    events_close(&used->async);
    not_freed = used->device == not_freed ? NULL : not_freed;
    free(used->device);
    free(used);
  }
}

EXPORT struct ibv_context **rdma_get_devices(int *count) {
  FAULT(NULL);
  pthread_mutex_lock(&fabric);
  struct ibv_context **list = calloc(MAX_DEVICES + 1, sizeof *list);
  int found = 0;
  for (int i = 0; list && i < MAX_DEVICES; i++) {
    if (devices[i]) {
      list[found++] = context_use(devices[i]);
    }
  }
  pthread_mutex_unlock(&fabric);
  if (list && !found) {
    free(list);
    list = NULL;
    errno = ENODEV;
  }
  if (count) {
    *count = found;
  }
  return list;
}

EXPORT void rdma_free_devices(struct ibv_context **list) {
  pthread_mutex_lock(&fabric);
  for (struct ibv_context **each = list; *each; each++) {
    context_release(*each);
  }
  pthread_mutex_unlock(&fabric);
  free(list);
}

EXPORT const char *ibv_get_device_name(struct ibv_device *device) {
  return device->name;
}

EXPORT int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr) {
  FAULT(errno);
  if (is_gone(context)) {
    return EIO;
  }
  *attr = profile_of(context)->attr;
  return 0;
}

/* For contexts without the operation above. */
EXPORT int(ibv_query_port)(struct ibv_context *context, uint8_t port,
                           struct _compat_ibv_port_attr *attr) {
  (void)context, (void)port, (void)attr;
  return EOPNOTSUPP;
}

EXPORT int _ibv_query_gid_ex(struct ibv_context *context, uint32_t port, uint32_t index,
                             struct ibv_gid_entry *entry, uint32_t flags, size_t size) {
  FAULT(errno);
  gid_queries++;
  (void)flags, (void)size;
  struct profile *profile = profile_of(context);
  if (is_gone(context)) {
    return EIO;
  }
  if (port < 1 || port > profile->attr.phys_port_cnt ||
      index >= (uint32_t)profile->ports[port - 1].gid_tbl_len) {
    return EINVAL;
  }
  pthread_mutex_lock(&fabric);
  struct gid gid = profile->gids[port - 1][index];
  pthread_mutex_unlock(&fabric);
  if (!gid.set) {
    return ENODATA;
  }
  *entry = (struct ibv_gid_entry){
      .gid = gid.gid, .gid_index = index, .port_num = port, .gid_type = gid.type};
  return 0;
}

EXPORT ssize_t _ibv_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
                                    size_t most, uint32_t flags, size_t size) {
  FAULT(-errno);
  (void)flags, (void)size;
  struct profile *profile = profile_of(context);
  if (is_gone(context)) {
    return -EIO;
  }
  size_t set = 0;
  pthread_mutex_lock(&fabric);
  for (uint32_t p = 0; p < profile->attr.phys_port_cnt; p++) {
    for (uint32_t g = 0; g < (uint32_t)profile->ports[p].gid_tbl_len; g++) {
      struct gid gid = profile->gids[p][g];
      /* As in the kernel: one place too few is an error. */
      if (gid.set && set == most) {
        pthread_mutex_unlock(&fabric);
        return -EINVAL;
      }
      if (gid.set) {
        entries[set++] = (struct ibv_gid_entry){
            .gid = gid.gid, .gid_index = g, .port_num = p + 1, .gid_type = gid.type};
      }
    }
  }
  pthread_mutex_unlock(&fabric);
  return (ssize_t)set;
}

/* ---- asynchronous events */

void raise_async(struct ibv_context *context, enum ibv_event_type type, void *element) {
  struct event *event = calloc(1, sizeof *event);
  event->object = element ? element : context;
  event->async.event_type = type;
  event->async.element.qp = element;
  events_add(&context_of(context)->async, event);
}

static bool is_of_queue_pair(enum ibv_event_type type) {
  return (type >= IBV_EVENT_QP_FATAL && type <= IBV_EVENT_PATH_MIG_ERR) ||
         type == IBV_EVENT_QP_LAST_WQE_REACHED;
}

/* The counts for which the destruction of an object waits. */
static void count_event(const struct ibv_async_event *event, bool acknowledged) {
  if (event->event_type == IBV_EVENT_CQ_ERR) {
    struct fake_cq *cq = (struct fake_cq *)event->element.cq;
    acknowledged ? cq->cq.async_events_completed++ : cq->async_told++;
  } else if (event->event_type == IBV_EVENT_SRQ_ERR ||
             event->event_type == IBV_EVENT_SRQ_LIMIT_REACHED) {
    struct fake_srq *srq = (struct fake_srq *)event->element.srq;
    acknowledged ? srq->srq.events_completed++ : srq->async_told++;
  } else if (is_of_queue_pair(event->event_type)) {
    struct fake_qp *qp = (struct fake_qp *)event->element.qp;
    acknowledged ? qp->qp.events_completed++ : qp->async_told++;
  }
}

EXPORT int ibv_get_async_event(struct ibv_context *context, struct ibv_async_event *target) {
  FAULT(-1);
  struct event *event = events_take_locked(&context_of(context)->async);
  if (!event) {
    return -1;
  }
  *target = event->async;
  count_event(target, false);
  pthread_mutex_unlock(&fabric);
  free(event);
  return 0;
}

EXPORT void ibv_ack_async_event(struct ibv_async_event *event) {
  FAULT()
  pthread_mutex_lock(&fabric);
  count_event(event, true);
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&fabric);
}

/* ---- for the script */

static struct device *named(const char *name, int *at) {
  for (int i = 0; i < MAX_DEVICES; i++) {
    if (devices[i] && !strcmp(devices[i]->device.name, name)) {
      *at = i;
      return devices[i];
    }
  }
  return NULL;
}

/* Takes a device away under all that use it. */
bool device_remove(const char *name) {
  int at;
  struct device *device = named(name, &at);
  if (!device) {
    return false;
  }
  devices[at] = NULL;
  device->removed = true;
  strcpy(last_removed, name);
  not_freed = device->context ? device : NULL;
  if (device->context) {
    device->context->users++;
    raise_async(&device->context->verbs.context, IBV_EVENT_DEVICE_FATAL, NULL);
    /* Its completion channels; the asynchronous events stay. */
    events_break(&device->context->verbs.context);
    device_gone_for_cm(device);
    context_release(&device->context->verbs.context);
  } else {
    free(device);
  }
  return true;
}

bool device_is_freed(const char *name) {
  return !strcmp(last_removed, name) && !not_freed;
}

bool device_return(const char *name) {
  int at;
  for (int i = 0; i < MAX_DEVICES; i++) {
    if (!strcmp(profiles[i].name, name) && !named(name, &at)) {
      add(&profiles[i]);
      return true;
    }
  }
  return false;
}

static void raise_of_port(struct ibv_context *context, enum ibv_event_type type, int port) {
  struct event *event = calloc(1, sizeof *event);
  event->object = context;
  event->async.event_type = type;
  event->async.element.port_num = port;
  events_add(&context_of(context)->async, event);
}

bool port_event(const char *name, int port, bool up) {
  int at;
  struct device *device = named(name, &at);
  if (!device || !device->context || port < 1 || port > MAX_PORTS) {
    return false;
  }
  device->profile->ports[port - 1].state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  raise_of_port(&device->context->verbs.context, up ? IBV_EVENT_PORT_ACTIVE : IBV_EVENT_PORT_ERR,
                port);
  return true;
}

bool device_gid(char *words[], bool set) {
  int at, port = atoi(words[1]), index = atoi(words[2]);
  struct device *device = named(words[0], &at);
  if (!device || !device->context || port < 1 || port > MAX_PORTS || index < 0 ||
      index >= MAX_GIDS) {
    return false;
  }
  if (set) {
    if (!profile_set_gid(device->profile, words + 1)) {
      return false;
    }
  } else {
    device->profile->gids[port - 1][index].set = false;
  }
  raise_of_port(&device->context->verbs.context, IBV_EVENT_GID_CHANGE, port);
  return true;
}
