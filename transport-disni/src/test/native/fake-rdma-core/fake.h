// SPDX-License-Identifier: Apache-2.0
/*
 * A fake rdma-core for tests: the symbols of libibverbs and librdmacm that Verbena's native libraries
 * use, on devices that are only described, in one process, without a kernel. It is loaded before the
 * real libraries by LD_PRELOAD. One lock over all: what is posted is done at once, in the thread that
 * posts, or later in the thread of timers.
 */
#ifndef FAKE_H
#define FAKE_H

#include <infiniband/verbs.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define MAX_DEVICES 32
#define MAX_PORTS 2
#define MAX_GIDS 256
#define NEVER INT64_MAX

#define EXPORT __attribute__((visibility("default")))

/* ---- profiles: a device as data */

struct gid {
  union ibv_gid gid;
  uint32_t type;
  bool set;
};

struct profile {
  char name[IBV_SYSFS_NAME_MAX];
  struct ibv_device_attr attr;
  struct ibv_port_attr ports[MAX_PORTS];
  struct gid gids[MAX_PORTS][MAX_GIDS];
  enum ibv_transport_type transport;
  uint32_t max_inline;
  /* Options of ECE; 0 if the driver knows none. */
  uint32_t ece;
  /* 0 if its driver has no modify_cq. */
  struct ibv_cq_moderation_caps moderation;
  bool has_rc, has_resize, has_rereg, has_single_threaded;
  /* UD, and memory windows that nobody can bind. */
  bool has_ud, has_mw;
  /* Datagrams are lost unless the device says otherwise, and is of InfiniBand. */
  bool delivers_datagrams;
  /* iWARP: queue pairs are connected by rdma_cm alone. */
  bool by_cm_only;
  /* The target of a READ needs the right to be written by the peer. */
  bool remote_read_sinks;
  /* As librxe: a receive that is posted in ERR waits until the queue pair goes there once more. */
  bool flushes_late;
  /* As siw: what is posted in ERR is never flushed, and nobody is told the state. */
  bool never_flushes_late, hides_state;
  /* As libibverbs' dummy operations do: a post that fails says nothing of the request. */
  bool leaves_bad_unset;
};

/* Reads a profile; writes what is wrong with it to stderr and answers false. */
bool profile_read(struct profile *profile, const char *path);

/* PORT INDEX v1|v2|ib ADDRESS */
bool profile_set_gid(struct profile *profile, char *words[]);

/* ---- events: a file descriptor that is readable as long as there are any */

struct event {
  struct event *next;
  /* What it is about; NULL once that is gone, and the event counts for nothing. */
  void *object;
  union {
    struct ibv_async_event async;
    struct rdma_cm_event cm;
  };
  uint8_t data[256];
};

enum event_kind { EVENT_COMPLETION, EVENT_ASYNC, EVENT_CM, EVENT_KINDS };

struct events {
  struct events *next;
  enum event_kind kind;
  /* With which it breaks, or NULL. */
  const void *owner;
  int fd, told_fd;
  struct event *first, *last;
  /* Told later, by the script. */
  struct event *held_first, *held_last;
};

int events_open(struct events *events, enum event_kind kind, const void *owner);
void events_close(struct events *events);
/* As Linux does since 5.8 with what a device that is removed has: POLLERR, here POLLHUP, and EIO. */
void events_break(const void *owner);
/* Takes the event over. */
void events_add(struct events *events, struct event *event);
/* Tells all that was held. */
void events_release(enum event_kind kind);
void events_forget(struct events *events, const void *object);
/* Under no lock; answers with the lock held and an event, or without it and NULL, and errno. */
struct event *events_take_locked(struct events *events);

/* ---- the script */

/* Whether this call is to fail; sets errno. */
bool fault(const char *call);
#define FAULT(answer)     \
  if (fault(__func__)) {  \
    return answer;        \
  }

/* Does a line; it is cut into words. */
bool script(char *line);

/* How many objects there are of the device, or of the connection manager. */
extern _Atomic int verbs_objects, cm_objects;
/* How often an entry of a table of GIDs was asked for. */
extern _Atomic int gid_queries;

/* What lines of the script do, under the lock: false if there is no such thing. */
bool device_remove(const char *name);
bool device_return(const char *name);
bool device_is_freed(const char *name);
/* DEVICE PORT INDEX, and TYPE ADDRESS if it is set. */
bool device_gid(char *words[], bool set);
bool port_event(const char *name, int port, bool up);
bool srqs_break(const char *name);
void completions_defer(void);
bool completions_tell(uint32_t qp_num, int count);
/* Tells all, and keeps back no more. */
void completions_release(void);
/* Whether a context was freed under protection domains or completion queues. */
extern bool freed_in_use;

bool event_is_lost(enum event_kind kind);
bool event_is_held(enum event_kind kind);
/* Whether the script has it be another. */
bool cm_event_turns(enum rdma_cm_event_type *type, int *status);

/* ---- objects */

struct device {
  struct ibv_device device;
  struct profile *profile;
  struct fake_context *context;
  /* Read without the lock. */
  _Atomic bool removed;
};

struct fake_context {
  struct device *device;
  struct events async;
  /* As librdmacm counts: identifiers bound to it, and lists that name it. */
  int users;
  int objects;
  struct verbs_context verbs;
};

struct fake_pd {
  struct ibv_pd pd;
  int users;
};

struct fake_mr {
  struct ibv_mr mr;
  int access;
  struct fake_mr *next;
};

struct fake_ah {
  struct ibv_ah ah;
  struct ibv_ah_attr way;
};

struct completion {
  struct completion *next;
  struct ibv_cq *cq;
  bool solicited;
  struct ibv_wc wc;
  struct fake_qp *qp;
  uint64_t slot;
  bool of_receive;
};

struct fake_channel {
  struct ibv_comp_channel channel;
  struct events events;
};

struct fake_cq {
  struct ibv_cq cq;
  struct completion *ring;
  uint64_t head, tail;
  int users, vector;
  /* Count and period; -1 until it is moderated. */
  int64_t moderation;
  bool overrun;
  enum { UNARMED, ARMED_SOLICITED, ARMED } armed;
  uint32_t events_told, async_told;
};

struct receive {
  uint64_t id;
  int sges;
  struct ibv_sge *sge;
};

struct receive_queue {
  struct receive *ring;
  struct ibv_sge *sges;
  uint32_t size, max_sge;
  uint64_t freed, head, tail;
  /* How often was posted here, however many at once. */
  uint64_t posts;
};

struct fake_srq {
  struct ibv_srq srq;
  struct fake_srq *next;
  struct receive_queue queue;
  uint32_t limit;
  int users;
  uint32_t async_told;
};

struct send {
  struct ibv_send_wr wr;
  struct ibv_sge *sge;
  uint8_t *inlined;
  uint32_t length;
  bool begun;
};

struct fake_qp {
  struct ibv_qp qp;
  struct fake_qp *next;
  struct ibv_qp_attr attr;
  struct ibv_qp_init_attr init;
  struct send *ring;
  struct ibv_sge *sges;
  uint8_t *inlined;
  uint64_t freed, head, tail;
  uint64_t posts, inline_sends;
  struct receive_queue receives;
  uint32_t send_psn, expected_psn;
  int64_t due;
  int tries;
  bool waits_for_receive;
  bool established, drain_asked;
  /* Options of ECE that are agreed on. */
  uint32_t ece;
  uint32_t async_told;
};

extern pthread_mutex_t fabric;
extern pthread_cond_t changed;
extern struct device *devices[MAX_DEVICES];

static inline struct fake_context *context_of(struct ibv_context *context) {
  return (struct fake_context *)((char *)context - offsetof(struct fake_context, verbs.context));
}

static inline struct profile *profile_of(struct ibv_context *context) {
  return context_of(context)->device->profile;
}

static inline bool is_gone(struct ibv_context *context) {
  return context_of(context)->device->removed;
}

int64_t now(void);
/* The device that has an address, and its GID, as rdma_cm chooses it: of v2 if there is one; NULL if none. */
struct device *device_at(const union ibv_gid *gid, uint8_t *port, int *index);
struct ibv_context *context_use(struct device *device);
void context_release(struct ibv_context *context);
void raise_async(struct ibv_context *context, enum ibv_event_type type, void *element);
struct fake_mr *mr_find(struct ibv_context *context, uint32_t key);

void receives_init(struct receive_queue *queue, uint32_t size, uint32_t max_sge);
void receives_destroy(struct receive_queue *queue);
int receives_post(struct receive_queue *queue, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
/* A completion; what does not fit is lost, and stops the queue pairs. */
void cq_push(const struct completion *completion);
void cq_clean(struct ibv_cq *cq, const struct fake_qp *qp);
void cq_overran(struct ibv_cq *cq);
void srq_taken(struct fake_srq *srq);

/* Whether an address is one: with a LID on InfiniBand, with a GRH of a GID that there is on Ethernet. */
bool is_way(const struct profile *profile, const struct ibv_ah_attr *way);

/* All under the lock. */
struct fake_qp *qp_find(uint32_t number);
int qp_modify(struct fake_qp *qp, const struct ibv_qp_attr *attr, int mask);
void qp_fail(struct fake_qp *qp);
int qp_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad);
int qp_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad);
void device_gone_for_cm(struct device *device);
/* The connection of a queue pair of iWARP is over. */
void cm_stream_ended(uint32_t qp_num);

/* When the next timer is due, having done what is. */
int64_t qp_timers(int64_t time);
int64_t cm_timers(int64_t time);
/* Something may be due earlier than before. */
void timer_set(void);

#endif
