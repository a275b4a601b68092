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
 * Answers the kind of the event, or below 0 when there was none in time. It is acknowledged here:
 * ackCmEvent is given no more than its kind, and an event that nobody acknowledges makes
 * rdma_destroy_id(3) wait for ever.
 */
static int take_event(struct rdma_event_channel *channel, jlong *listener, jlong *identifier) {
  struct rdma_cm_event *event;
  if (rdma_get_cm_event(channel, &event)) {
    return -error_now();
  }
  *listener = to_handle(event->listen_id);
  *identifier = to_handle(event->id);
  int kind = event->event;
  if (kind == RDMA_CM_EVENT_CONNECT_REQUEST) {
    handle_add(event->id, IDENTIFIER);
  }
  rdma_ack_cm_event(event);
  return kind;
}

DISPATCHER(jint, getCmEvent, jlong channel_handle, jlong listener, jlong identifier, jint timeout) {
  struct rdma_event_channel *channel = POINTER(struct rdma_event_channel, channel_handle);
  if (!listener || !identifier) {
    return -EINVAL;
  }
  int64_t deadline = waiting_deadline(timeout);
  for (;;) {
    if (!handle_usable(channel, EVENT_CHANNEL)) {
      return -EBADF;
    }
    int ready = waiting_for(channel->fd, -1, deadline);
    if (ready < 0) {
      return ready;
    }
    if (ready == WAIT_TIME_IS_OVER) {
      return -ETIMEDOUT;
    }
    int kind = take_event(channel, POINTER(jlong, listener), POINTER(jlong, identifier));
    /* Another thread took it: there may be time left for the next one. */
    if (kind != -EAGAIN || (ready & WAIT_BROKEN)) {
      return kind;
    }
  }
}

/* Done when it was taken. */
DISPATCHER(jint, ackCmEvent, jint kind UNUSED) {
  return 0;
}
