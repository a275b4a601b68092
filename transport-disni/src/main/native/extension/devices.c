// SPDX-License-Identifier: Apache-2.0
/* Devices, their ports and their asynchronous events. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../common/waiting.h"
#include "natives.h"

/* The size of names and firmware versions, as in libibverbs. */
#define NAME_SIZE 64

_Static_assert(NAME_SIZE == IBV_SYSFS_NAME_MAX, "a name does not fit");

static void copy_name(char *target, const char *name) {
  size_t length = strnlen(name, NAME_SIZE - 1);
  memcpy(target, name, length);
  memset(target + length, 0, NAME_SIZE - length);
}

/* Lists the devices. Without a device, sets the list to NULL and returns 0. */
static int list_devices(struct ibv_context ***list, int *count) {
  *list = rdma_get_devices(count);
  return *list || errno == ENODEV ? 0 : error_now();
}

EXTENSION(jint, deviceNames, jlong names, jint capacity) {
  struct ibv_context **list;
  int count;
  int error = list_devices(&list, &count);
  if (error) {
    return -error;
  }
  if (!list) {
    return 0;
  }
  for (int i = 0; i < count && i < capacity; i++) {
    copy_name(POINTER(char, names) + (size_t)i * NAME_SIZE, ibv_get_device_name(list[i]->device));
  }
  rdma_free_devices(list);
  return count;
}

/*
 * The contexts that were returned to Java. librdmacm closes the context of a removed device when no
 * object of librdmacm uses it; it does not know the objects that Verbena creates on the context. So
 * each context is kept open for ever: by an identifier that is bound to the device, or, if the
 * device has no address to bind to, by a list of devices, which keeps all of them open.
 */
struct kept {
  struct kept *next;
  struct ibv_context *context;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *all_kept;

static bool is_kept(const struct ibv_context *context) {
  const struct kept *kept = all_kept;
  while (kept && kept->context != context) {
    kept = kept->next;
  }
  return kept;
}

/* Converts a GID of RoCE or iWARP to an IP address; false for a link-local GID, which needs a
   scope. */
static bool address_of(const union ibv_gid *gid, struct sockaddr_storage *address) {
  memset(address, 0, sizeof *address);
  const struct in6_addr *six = (const struct in6_addr *)gid;
  if (IN6_IS_ADDR_LINKLOCAL(six) || IN6_IS_ADDR_UNSPECIFIED(six)) {
    return false;
  }
  if (IN6_IS_ADDR_V4MAPPED(six)) {
    struct sockaddr_in *four = (struct sockaddr_in *)address;
    four->sin_family = AF_INET;
    memcpy(&four->sin_addr, gid->raw + 12, sizeof four->sin_addr);
  } else {
    address->ss_family = AF_INET6;
    ((struct sockaddr_in6 *)address)->sin6_addr = *six;
  }
  return true;
}

static bool binds(struct rdma_event_channel *channel, struct ibv_context *context,
                  const union ibv_gid *gid) {
  struct sockaddr_storage address;
  struct rdma_cm_id *id;
  if (!address_of(gid, &address) || rdma_create_id(channel, &id, NULL, RDMA_PS_TCP)) {
    return false;
  }
  if (!rdma_bind_addr(id, (struct sockaddr *)&address) && id->verbs == context) {
    return true;
  }
  rdma_destroy_id(id);
  return false;
}

/* Binds an identifier to the device, which keeps its context open; returns whether that worked. The
   identifier has a channel of its own, which is never read. */
static bool hold(struct ibv_context *context) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  struct ibv_port_attr port;
  if (!channel) {
    return false;
  }
  /* Querying a port after the last one fails. */
  for (uint8_t number = 1; !ibv_query_port(context, number, &port); number++) {
    for (int i = 0; i < port.gid_tbl_len; i++) {
      struct ibv_gid_entry entry;
      if (!ibv_query_gid_ex(context, number, (uint32_t)i, &entry, 0) &&
          binds(channel, context, &entry.gid)) {
        return true;
      }
    }
  }
  rdma_destroy_event_channel(channel);
  return false;
}

static struct ibv_context *named(struct ibv_context **list, const char *name) {
  while (*list && strncmp(name, ibv_get_device_name((*list)->device), NAME_SIZE)) {
    list++;
  }
  return *list;
}

/* Keeps a context of the list open, and takes over the list. Returns 0 or an errno. */
static int keep(struct ibv_context *context, struct ibv_context **list) {
  if (is_kept(context)) {
    rdma_free_devices(list);
    return 0;
  }
  struct kept *kept = malloc(sizeof *kept);
  if (!kept) {
    rdma_free_devices(list);
    return ENOMEM;
  }
  *kept = (struct kept){.next = all_kept, .context = context};
  all_kept = kept;
  if (hold(context)) {
    rdma_free_devices(list);
  }
  return 0;
}

EXTENSION(jlong, context, jlong name) {
  struct ibv_context **list;
  int count;
  int error = list_devices(&list, &count);
  if (error || !list) {
    return error ? -error : -ENODEV;
  }
  pthread_mutex_lock(&lock);
  struct ibv_context *context = named(list, POINTER(char, name));
  error = ENODEV;
  if (context) {
    error = keep(context, list);
  } else {
    rdma_free_devices(list);
  }
  pthread_mutex_unlock(&lock);
  return error ? -error : to_handle(context);
}

EXTENSION(jint, deviceName, jlong context, jlong name) {
  if (!context) {
    return -EINVAL;
  }
  copy_name(POINTER(char, name), ibv_get_device_name(POINTER(struct ibv_context, context)->device));
  return 0;
}

EXTENSION(jint, queryDevice, jlong context, jlong words_address, jlong firmware) {
  if (!context) {
    return -EINVAL;
  }
  struct ibv_device_attr device;
  int error = error_of(ibv_query_device(POINTER(struct ibv_context, context), &device));
  if (error) {
    return -error;
  }
  jlong *words = WORDS(words_address);
  /* All bits set means no limit; Java gets the greatest long. */
  words[DEVICE_MAX_MR_SIZE] =
      device.max_mr_size > INT64_MAX ? INT64_MAX : (jlong)device.max_mr_size;
  words[DEVICE_MAX_QP] = device.max_qp;
  words[DEVICE_MAX_QP_WR] = device.max_qp_wr;
  words[DEVICE_DEVICE_CAP_FLAGS] = device.device_cap_flags;
  words[DEVICE_MAX_SGE] = device.max_sge;
  words[DEVICE_MAX_CQ] = device.max_cq;
  words[DEVICE_MAX_CQE] = device.max_cqe;
  words[DEVICE_MAX_MR] = device.max_mr;
  words[DEVICE_MAX_PD] = device.max_pd;
  words[DEVICE_MAX_QP_RD_ATOM] = device.max_qp_rd_atom;
  words[DEVICE_MAX_QP_INIT_RD_ATOM] = device.max_qp_init_rd_atom;
  words[DEVICE_ATOMIC_CAP] = device.atomic_cap;
  words[DEVICE_MAX_MW] = device.max_mw;
  words[DEVICE_MAX_AH] = device.max_ah;
  words[DEVICE_MAX_SRQ] = device.max_srq;
  words[DEVICE_MAX_SRQ_WR] = device.max_srq_wr;
  words[DEVICE_PHYS_PORT_CNT] = device.phys_port_cnt;
  words[DEVICE_VENDOR_ID] = device.vendor_id;
  words[DEVICE_TRANSPORT] = POINTER(struct ibv_context, context)->device->transport_type;
  words[DEVICE_COMP_VECTORS] = POINTER(struct ibv_context, context)->num_comp_vectors;
  copy_name(POINTER(char, firmware), device.fw_ver);
  return 0;
}

EXTENSION(jint, queryModeration, jlong context, jlong words_address) {
  if (!context) {
    return -EINVAL;
  }
  /* A driver without extended attributes fills in only those of ibv_query_device(3). */
  struct ibv_device_attr_ex device = {.cq_mod_caps = {0}};
  int error = error_of(ibv_query_device_ex(POINTER(struct ibv_context, context), NULL, &device));
  if (error) {
    return -error;
  }
  jlong *words = WORDS(words_address);
  words[MODERATION_MAX_COUNT] = device.cq_mod_caps.max_cq_count;
  words[MODERATION_MAX_PERIOD] = device.cq_mod_caps.max_cq_period;
  return 0;
}

EXTENSION(jint, queryPort, jlong context, jint port, jlong words_address) {
  if (!context || port < 0 || port > UINT8_MAX) {
    return -EINVAL;
  }
  struct ibv_port_attr attributes;
  int error =
      error_of(ibv_query_port(POINTER(struct ibv_context, context), (uint8_t)port, &attributes));
  if (error) {
    return -error;
  }
  jlong *words = WORDS(words_address);
  words[PORT_STATE] = attributes.state;
  words[PORT_MAX_MTU] = attributes.max_mtu;
  words[PORT_ACTIVE_MTU] = attributes.active_mtu;
  words[PORT_GID_TBL_LEN] = attributes.gid_tbl_len;
  words[PORT_MAX_MSG_SZ] = attributes.max_msg_sz;
  words[PORT_LINK_LAYER] = attributes.link_layer;
  words[PORT_LID] = attributes.lid;
  return 0;
}

EXTENSION(jint, queryGid, jlong context, jint port, jint index, jlong gid) {
  if (!context || port < 0 || index < 0) {
    return -EINVAL;
  }
  struct ibv_gid_entry entry;
  int error = error_of(ibv_query_gid_ex(POINTER(struct ibv_context, context), (uint32_t)port,
                                        (uint32_t)index, &entry, 0));
  if (error) {
    return -error;
  }
  memcpy(POINTER(void, gid), entry.gid.raw, sizeof entry.gid.raw);
  return entry.gid_type == IBV_GID_TYPE_ROCE_V2;
}

/* The number of GID table entries of all ports. Querying a port after the last one fails. */
static size_t gid_places(struct ibv_context *context) {
  size_t places = 0;
  struct ibv_port_attr port;
  for (uint8_t number = 1; !ibv_query_port(context, number, &port); number++) {
    places += (size_t)port.gid_tbl_len;
  }
  return places;
}

/*
 * libibverbs refuses an ioctl attribute of more than 65,535 bytes with EINVAL (fill_attr_out in
 * libibverbs/cmd_ioctl.h). Only GIDs that are set take an entry.
 */
#define MOST_GIDS (UINT16_MAX / sizeof(struct ibv_gid_entry))

EXTENSION(jint, queryGids, jlong context, jint port, jlong gids, jint length) {
  if (!context || port < 0 || length < 0) {
    return -EINVAL;
  }
  size_t places = gid_places(POINTER(struct ibv_context, context)) + 1;
  if (places > MOST_GIDS) {
    places = MOST_GIDS;
  }
  struct ibv_gid_entry *entries = calloc(places, sizeof *entries);
  if (!entries) {
    return -ENOMEM;
  }
  ssize_t set = ibv_query_gid_table(POINTER(struct ibv_context, context), entries, places, 0);
  jint used = set < 0 ? (jint)set : 0;
  for (ssize_t i = 0; i < set; i++) {
    uint32_t index = entries[i].gid_index;
    if (entries[i].port_num == (uint32_t)port && index < (uint32_t)length) {
      memcpy(POINTER(union ibv_gid, gids) + index, &entries[i].gid, sizeof entries[i].gid);
      used = (jint)index + 1 > used ? (jint)index + 1 : used;
    }
  }
  free(entries);
  return used;
}

/* The object of an event, the number of the port that went up or down, or 0 for other events. */
static jlong element_of(const struct ibv_async_event *event) {
  switch (event->event_type) {
    case IBV_EVENT_CQ_ERR:
      return to_handle(event->element.cq);
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return to_handle(event->element.srq);
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return to_handle(event->element.qp);
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
      return event->element.port_num;
    default:
      return 0;
  }
}

/* Takes an event. Returns 0 or an errno, EAGAIN if there is no event. */
static int take_event(struct ibv_context *context, jlong *words) {
  struct ibv_async_event event;
  errno = 0;
  if (ibv_get_async_event(context, &event)) {
    return error_now();
  }
  words[ASYNC_TYPE] = event.event_type;
  words[ASYNC_ELEMENT] = element_of(&event);
  return 0;
}

EXTENSION(jint, acknowledgeAsyncEvent, jlong words_address) {
  const jlong *words = WORDS(words_address);
  /* ibv_ack_async_event(3) uses only the pointer of the element, the same for all kinds of objects,
     and nothing of a port event. */
  struct ibv_async_event event = {.event_type = (enum ibv_event_type)words[ASYNC_TYPE],
                                  .element.qp = POINTER(struct ibv_qp, words[ASYNC_ELEMENT])};
  ibv_ack_async_event(&event);
  return 0;
}

EXTENSION(jint, asyncEvent, jlong context_handle, jint wakeup, jint timeout, jlong words) {
  struct ibv_context *context = POINTER(struct ibv_context, context_handle);
  if (!context) {
    return -EINVAL;
  }
  int result = waiting_nonblocking(context->async_fd);
  if (result) {
    return result;
  }
  int64_t deadline = waiting_deadline(timeout);
  for (;;) {
    int ready = waiting_for(context->async_fd, wakeup, deadline);
    if (ready <= 0) {
      return ready;
    }
    int error = take_event(context, WORDS(words));
    if (!error) {
      return 1;
    }
    if (error != EAGAIN || (ready & WAIT_BROKEN)) {
      return error == EAGAIN ? -EIO : -error;
    }
    if (ready & WAIT_WOKEN) {
      return 0;
    }
  }
}
