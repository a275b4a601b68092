// SPDX-License-Identifier: Apache-2.0
/* Event channels of the connection manager, and their events. */
#include "../common/waiting.h"
#include "natives.h"

DISPATCHER(jlong, createEventChannel) {
  struct rdma_event_channel *channel = rdma_create_event_channel();
  if (!channel) {
    fail(env, "rdma_create_event_channel", error_now());
    return 0;
  }
  int error = -waiting_nonblocking(channel->fd);
  if (error) {
    rdma_destroy_event_channel(channel);
    fail(env, "fcntl", error);
    return 0;
  }
  handle_add(channel, EVENT_CHANNEL);
  return to_handle(channel);
}

DISPATCHER(jint, destroyEventChannel, jlong channel) {
  return -close_event_channel(POINTER(struct rdma_event_channel, channel));
}

/*
 * Returns the kind of the event, or a negative errno: -ETIMEDOUT if none came in time. Acknowledges
 * the event at once, because ackCmEvent gets only its kind, and rdma_destroy_id(3) would wait for
 * an unacknowledged event for ever.
 */
DISPATCHER(jint, getCmEvent, jlong channel_handle, jlong listener, jlong identifier, jint timeout) {
  struct rdma_event_channel *channel = POINTER(struct rdma_event_channel, channel_handle);
  if (!listener || !identifier) {
    return -EINVAL;
  }
  int64_t deadline = waiting_deadline(timeout);
  for (;;) {
    int fd = descriptor_of_event_channel(channel);
    int ready = fd < 0 ? fd : waiting_for(fd, -1, deadline);
    if (ready < 0) {
      return ready;
    }
    if (ready == WAIT_TIME_IS_OVER) {
      return -ETIMEDOUT;
    }
    struct rdma_cm_event event;
    int error = take_connection_event(channel, &event);
    if (!error) {
      *POINTER(jlong, listener) = to_handle(event.listen_id);
      *POINTER(jlong, identifier) = to_handle(event.id);
      return event.event;
    }
    /* EAGAIN: another thread took the event; wait for the next one. */
    if (error != EAGAIN || (ready & WAIT_BROKEN)) {
      return -error;
    }
  }
}

/* getCmEvent has acknowledged the event. */
DISPATCHER(jint, ackCmEvent, jint kind UNUSED) {
  return 0;
}
