// SPDX-License-Identifier: Apache-2.0
#include "closing.h"

#include <pthread.h>

#include "../common/errors.h"
#include "handles.h"

/* Held while closing, so that only one thread destroys an object. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

typedef int (*destroyer)(void *object);

static int destroy_region(void *object) {
  return error_of(ibv_dereg_mr(object));
}

static int destroy_domain(void *object) {
  return error_of(ibv_dealloc_pd(object));
}

static int destroy_completion_channel(void *object) {
  return error_of(ibv_destroy_comp_channel(object));
}

static int destroy_completion_queue(void *object) {
  struct handle *handle = handle_find(object, COMPLETION_QUEUE);
  unsigned events = handle ? atomic_exchange(&handle->unacknowledged, 0) : 0;
  if (events) {
    ibv_ack_cq_events(object, events);
  }
  return error_of(ibv_destroy_cq(object));
}

static int destroy_queue_pair(void *object) {
  return error_of(ibv_destroy_qp(object));
}

static int destroy_identifier(void *object) {
  return error_of(rdma_destroy_id(object));
}

struct channel_users {
  struct rdma_event_channel *channel;
  int remaining;
};

static bool is_live_on(const struct handle *handle, const struct rdma_event_channel *channel) {
  return atomic_load(&handle->state) == HANDLE_LIVE &&
         ((struct rdma_cm_id *)handle->object)->channel == channel;
}

static void count_user(struct handle *handle, void *argument) {
  struct channel_users *users = argument;
  users->remaining += is_live_on(handle, users->channel);
}

static int destroy_event_channel(void *object) {
  struct channel_users users = {.channel = object};
  handle_each(IDENTIFIER, count_user, &users);
  if (users.remaining) {
    return EBUSY;
  }
  rdma_destroy_event_channel(object);
  return 0;
}

/* Sets the state after closing, unless a new object was created at the same address. */
static void leave_closing(struct handle *handle, enum handle_state state) {
  int closing = HANDLE_CLOSING;
  atomic_compare_exchange_strong(&handle->state, &closing, state);
}

/* Destroys an object. If it is busy and may_wait is set, leaves it for close_waiting and returns 0.
   Returns 0 or an errno. Under the lock. */
static int close_object(void *object, enum handle_kind kind, destroyer destroy, bool may_wait) {
  struct handle *handle = handle_find(object, kind);
  if (!handle) {
    return destroy(object);
  }
  if (atomic_load(&handle->state) != HANDLE_LIVE) {
    return EBADF;
  }
  atomic_store(&handle->state, HANDLE_CLOSING);
  int error = destroy(object);
  if (error == EBUSY && may_wait) {
    return 0;
  }
  leave_closing(handle, error ? HANDLE_LIVE : HANDLE_GONE);
  return error;
}

/* Destroys an object that waits for its users, after one of them is gone; returns whether it did.
   Under the lock. */
static bool close_waiting(void *object, enum handle_kind kind, destroyer destroy) {
  struct handle *handle = object ? handle_find(object, kind) : NULL;
  if (!handle || atomic_load(&handle->state) != HANDLE_CLOSING || destroy(object)) {
    return false;
  }
  leave_closing(handle, HANDLE_GONE);
  return true;
}

static void close_waiting_queue(struct ibv_cq *queue) {
  struct handle *handle = handle_find(queue, COMPLETION_QUEUE);
  if (!handle || atomic_load(&handle->state) != HANDLE_CLOSING) {
    return;
  }
  struct ibv_comp_channel *channel = queue->channel;
  if (close_waiting(queue, COMPLETION_QUEUE, destroy_completion_queue)) {
    close_waiting(channel, COMPLETION_CHANNEL, destroy_completion_channel);
  }
}

static int close_queue_pair_locked(struct rdma_cm_id *id) {
  struct ibv_qp *pair = id->qp;
  struct ibv_cq *send_queue = pair->send_cq;
  struct ibv_cq *receive_queue = pair->recv_cq;
  struct ibv_pd *domain = pair->pd;
  /* rdma_destroy_qp(3) does not return whether it worked. */
  int error = close_object(pair, QUEUE_PAIR, destroy_queue_pair, false);
  if (error) {
    return error;
  }
  id->qp = NULL;
  close_waiting_queue(send_queue);
  if (receive_queue != send_queue) {
    close_waiting_queue(receive_queue);
  }
  close_waiting(domain, PROTECTION_DOMAIN, destroy_domain);
  return 0;
}

static int close_identifier_locked(struct rdma_cm_id *id) {
  struct rdma_event_channel *channel = id->channel;
  if (id->qp) {
    int error = close_queue_pair_locked(id);
    if (error) {
      return error;
    }
  }
  int error = close_object(id, IDENTIFIER, destroy_identifier, false);
  if (!error) {
    close_waiting(channel, EVENT_CHANNEL, destroy_event_channel);
  }
  return error;
}

static void end_with_channel(struct handle *handle, void *argument) {
  if (!is_live_on(handle, argument)) {
    return;
  }
  struct rdma_cm_id *id = handle->object;
  if (id->qp) {
    /* Fails if it is not connected; then there is no peer to inform. */
    rdma_disconnect(id);
  } else {
    close_object(id, IDENTIFIER, destroy_identifier, false);
  }
}

int take_completion_event(struct ibv_comp_channel *channel) {
  pthread_mutex_lock(&lock);
  int error = EBADF;
  struct ibv_cq *queue;
  void *context;
  if (handle_usable(channel, COMPLETION_CHANNEL)) {
    error = ibv_get_cq_event(channel, &queue, &context) ? error_now() : 0;
  }
  struct handle *handle = error ? NULL : handle_find(queue, COMPLETION_QUEUE);
  if (handle) {
    atomic_fetch_add(&handle->unacknowledged, 1);
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int take_connection_event(struct rdma_event_channel *channel, struct rdma_cm_event *copy) {
  pthread_mutex_lock(&lock);
  int error = EBADF;
  if (handle_usable(channel, EVENT_CHANNEL)) {
    struct rdma_cm_event *event;
    error = rdma_get_cm_event(channel, &event) ? error_now() : 0;
    if (!error) {
      *copy = *event;
      if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        handle_add(event->id, IDENTIFIER);
      }
      rdma_ack_cm_event(event);
    }
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int descriptor_of_completion_channel(const struct ibv_comp_channel *channel) {
  pthread_mutex_lock(&lock);
  int fd = handle_usable(channel, COMPLETION_CHANNEL) ? channel->fd : -EBADF;
  pthread_mutex_unlock(&lock);
  return fd;
}

int descriptor_of_event_channel(const struct rdma_event_channel *channel) {
  pthread_mutex_lock(&lock);
  int fd = handle_usable(channel, EVENT_CHANNEL) ? channel->fd : -EBADF;
  pthread_mutex_unlock(&lock);
  return fd;
}

int close_event_channel(struct rdma_event_channel *channel) {
  pthread_mutex_lock(&lock);
  int error = EBADF;
  if (handle_usable(channel, EVENT_CHANNEL)) {
    handle_each(IDENTIFIER, end_with_channel, channel);
    error = close_object(channel, EVENT_CHANNEL, destroy_event_channel, true);
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int close_identifier(struct rdma_cm_id *id) {
  pthread_mutex_lock(&lock);
  int error = handle_usable(id, IDENTIFIER) ? close_identifier_locked(id) : EBADF;
  pthread_mutex_unlock(&lock);
  return error;
}

int close_queue_pair_of(struct rdma_cm_id *id) {
  pthread_mutex_lock(&lock);
  int error = handle_usable(id, IDENTIFIER) && id->qp ? close_queue_pair_locked(id) : EBADF;
  pthread_mutex_unlock(&lock);
  return error;
}

int close_region(struct ibv_mr *region) {
  pthread_mutex_lock(&lock);
  int error = EBADF;
  if (handle_usable(region, MEMORY_REGION)) {
    struct ibv_pd *domain = region->pd;
    error = close_object(region, MEMORY_REGION, destroy_region, false);
    if (!error) {
      close_waiting(domain, PROTECTION_DOMAIN, destroy_domain);
    }
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int close_completion_queue(struct ibv_cq *queue) {
  pthread_mutex_lock(&lock);
  int error = EBADF;
  if (handle_usable(queue, COMPLETION_QUEUE)) {
    struct ibv_comp_channel *channel = queue->channel;
    error = close_object(queue, COMPLETION_QUEUE, destroy_completion_queue, true);
    if (!error) {
      /* If the queue waits too, the channel is still busy and waits on. */
      close_waiting(channel, COMPLETION_CHANNEL, destroy_completion_channel);
    }
  }
  pthread_mutex_unlock(&lock);
  return error;
}

int close_completion_channel(struct ibv_comp_channel *channel) {
  pthread_mutex_lock(&lock);
  int error = handle_usable(channel, COMPLETION_CHANNEL)
                  ? close_object(channel, COMPLETION_CHANNEL, destroy_completion_channel, true)
                  : EBADF;
  pthread_mutex_unlock(&lock);
  return error;
}

int close_domain(struct ibv_pd *domain) {
  pthread_mutex_lock(&lock);
  int error = handle_usable(domain, PROTECTION_DOMAIN)
                  ? close_object(domain, PROTECTION_DOMAIN, destroy_domain, true)
                  : EBADF;
  pthread_mutex_unlock(&lock);
  return error;
}
