// SPDX-License-Identifier: Apache-2.0
/* Completion queues and their channels. */
#include "../common/waiting.h"
#include "natives.h"

DISPATCHER(jlong, createCompChannel, jlong context) {
  if (!context) {
    fail(env, "ibv_create_comp_channel", ENODEV);
    return 0;
  }
  struct ibv_comp_channel *channel = ibv_create_comp_channel(POINTER(struct ibv_context, context));
  if (!channel) {
    fail(env, "ibv_create_comp_channel", error_now());
    return 0;
  }
  int error = -waiting_nonblocking(channel->fd);
  if (error) {
    ibv_destroy_comp_channel(channel);
    fail(env, "fcntl", error);
    return 0;
  }
  handle_add(channel, COMPLETION_CHANNEL);
  return to_handle(channel);
}

DISPATCHER(jint, destroyCompChannel, jlong channel) {
  return -close_completion_channel(POINTER(struct ibv_comp_channel, channel));
}

DISPATCHER(jlong, createCQ, jlong context, jlong channel_handle, jint depth, jint vector) {
  struct ibv_comp_channel *channel = POINTER(struct ibv_comp_channel, channel_handle);
  /* A queue without a channel can only be polled. */
  if (!context || (channel && !handle_usable(channel, COMPLETION_CHANNEL))) {
    fail(env, "ibv_create_cq", context ? EBADF : ENODEV);
    return 0;
  }
  struct ibv_cq *queue =
      ibv_create_cq(POINTER(struct ibv_context, context), depth, NULL, channel, vector);
  if (!queue) {
    fail(env, "ibv_create_cq", error_now());
    return 0;
  }
  handle_add(queue, COMPLETION_QUEUE);
  return to_handle(queue);
}

DISPATCHER(jint, destroyCQ, jlong queue) {
  return -close_completion_queue(POINTER(struct ibv_cq, queue));
}

/* Returns 0 for an event, or a negative errno: -ETIMEDOUT if none came in time. */
DISPATCHER(jint, getCqEvent, jlong channel_handle, jint timeout) {
  const char *verb = "ibv_get_cq_event";
  struct ibv_comp_channel *channel = POINTER(struct ibv_comp_channel, channel_handle);
  int64_t deadline = waiting_deadline(timeout);
  for (;;) {
    int fd = descriptor_of_completion_channel(channel);
    int ready = fd < 0 ? fd : waiting_for(fd, -1, deadline);
    if (ready < 0) {
      return -fail(env, verb, -ready);
    }
    if (ready == WAIT_TIME_IS_OVER) {
      return -ETIMEDOUT;
    }
    int error = take_completion_event(channel);
    if (!error) {
      return 0;
    }
    /* EAGAIN: another thread took the event; wait for the next one. */
    if (error != EAGAIN || (ready & WAIT_BROKEN)) {
      return -fail(env, verb, error);
    }
  }
}

/* Acknowledges at most the events taken: after one too many, ibv_destroy_cq(3) never returns. */
DISPATCHER(jint, ackCqEvent, jlong queue_handle, jint count) {
  struct ibv_cq *queue = POINTER(struct ibv_cq, queue_handle);
  if (count < 0) {
    return -EINVAL;
  }
  if (!handle_usable(queue, COMPLETION_QUEUE)) {
    return -EBADF;
  }
  unsigned acknowledged = (unsigned)count;
  struct handle *handle = handle_find(queue, COMPLETION_QUEUE);
  if (handle) {
    unsigned taken = atomic_load(&handle->unacknowledged);
    do {
      acknowledged = (unsigned)count < taken ? (unsigned)count : taken;
    } while (!atomic_compare_exchange_weak(&handle->unacknowledged, &taken, taken - acknowledged));
  }
  if (acknowledged) {
    ibv_ack_cq_events(queue, acknowledged);
  }
  return 0;
}

DISPATCHER(jint, pollCQ, jlong queue_handle, jint count, jlong completions) {
  struct ibv_cq *queue = POINTER(struct ibv_cq, queue_handle);
  if (!check(env, "ibv_poll_cq", queue, COMPLETION_QUEUE)) {
    return -1;
  }
  int polled = ibv_poll_cq(queue, count, POINTER(struct ibv_wc, completions));
  if (polled < 0) {
    /* mlx4 and mlx5 return -2 (CQ_POLL_ERR), which is no errno. */
    fail(env, "ibv_poll_cq", EIO);
  }
  return polled;
}

DISPATCHER(jint, reqNotifyCQ, jlong queue_handle, jint solicited_only) {
  struct ibv_cq *queue = POINTER(struct ibv_cq, queue_handle);
  if (!check(env, "ibv_req_notify_cq", queue, COMPLETION_QUEUE)) {
    return -1;
  }
  int error = error_of(ibv_req_notify_cq(queue, solicited_only));
  return error ? -fail(env, "ibv_req_notify_cq", error) : 0;
}
