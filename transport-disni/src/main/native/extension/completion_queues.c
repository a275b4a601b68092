// SPDX-License-Identifier: Apache-2.0
/* Completion queues, their channels, and polling. */
#include "../common/waiting.h"
#include "natives.h"

static bool is_unsupported(int error) {
  return error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
}

/* Creates a queue without locks, for one polling thread; NULL if the device cannot. */
static struct ibv_cq *create_single_threaded(struct ibv_context *context, int depth,
                                             struct ibv_comp_channel *channel, int vector) {
  struct ibv_cq_init_attr_ex wish = {.cqe = (uint32_t)depth,
                                     .channel = channel,
                                     .comp_vector = (uint32_t)vector,
                                     .wc_flags = IBV_WC_STANDARD_FLAGS,
                                     .comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
                                     .flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED};
  struct ibv_cq_ex *queue = ibv_create_cq_ex(context, &wish);
  return queue ? ibv_cq_ex_to_cq(queue) : NULL;
}

EXTENSION(jlong, createCompletionQueue, jlong context_handle, jint depth, jlong channel_handle,
          jint vector, jboolean single_threaded, jlong words) {
  struct ibv_context *context = POINTER(struct ibv_context, context_handle);
  struct ibv_comp_channel *channel = POINTER(struct ibv_comp_channel, channel_handle);
  if (!context || depth < 1 || vector < 0) {
    return -EINVAL;
  }
  struct ibv_cq *queue = NULL;
  if (single_threaded) {
    queue = create_single_threaded(context, depth, channel, vector);
    if (!queue && !is_unsupported(error_now())) {
      return -error_now();
    }
  }
  if (!queue) {
    /* libsiw fails without setting errno. */
    errno = 0;
    queue = ibv_create_cq(context, depth, NULL, channel, vector);
  }
  if (!queue) {
    return -error_now();
  }
  *WORDS(words) = queue->cqe;
  return to_handle(queue);
}

EXTENSION(jint, resizeCompletionQueue, jlong queue_handle, jint depth) {
  struct ibv_cq *queue = POINTER(struct ibv_cq, queue_handle);
  if (!queue || depth < 1) {
    return -EINVAL;
  }
  int error = error_of(ibv_resize_cq(queue, depth));
  return error ? -error : queue->cqe;
}

EXTENSION(jint, moderate, jlong queue, jint count, jint period) {
  if (!queue || count < 0 || count > UINT16_MAX || period < 0 || period > UINT16_MAX) {
    return -EINVAL;
  }
  struct ibv_modify_cq_attr change = {
      .attr_mask = IBV_CQ_ATTR_MODERATE,
      .moderate = {.cq_count = (uint16_t)count, .cq_period = (uint16_t)period}};
  return -error_of(ibv_modify_cq(POINTER(struct ibv_cq, queue), &change));
}

EXTENSION(jint, destroyCompletionQueue, jlong queue) {
  return queue ? -error_of(ibv_destroy_cq(POINTER(struct ibv_cq, queue))) : -EINVAL;
}

EXTENSION(jint, destroyCompletionChannel, jlong channel) {
  return channel ? -error_of(ibv_destroy_comp_channel(POINTER(struct ibv_comp_channel, channel)))
                 : -EINVAL;
}

EXTENSION(jint, poll, jlong queue, jint count, jlong completions) {
  if (!queue) {
    return -EINVAL;
  }
  int polled =
      ibv_poll_cq(POINTER(struct ibv_cq, queue), count, POINTER(struct ibv_wc, completions));
  /* A negative result means only that the queue is broken (mlx4 and mlx5 return -2, CQ_POLL_ERR);
     errno is that of an older call. */
  return polled < 0 ? -EIO : polled;
}

EXTENSION(jint, arm, jlong queue, jboolean solicited_only) {
  return queue ? -error_of(ibv_req_notify_cq(POINTER(struct ibv_cq, queue), solicited_only))
               : -EINVAL;
}

EXTENSION(jint, completionEventReady, jlong channel, jint wakeup, jint timeout) {
  return channel ? waiting_readable(POINTER(struct ibv_comp_channel, channel)->fd, wakeup, timeout)
                 : -EINVAL;
}

EXTENSION(jlong, completionEvent, jlong channel_handle) {
  struct ibv_comp_channel *channel = POINTER(struct ibv_comp_channel, channel_handle);
  if (!channel) {
    return -EINVAL;
  }
  int result = waiting_nonblocking(channel->fd);
  if (result) {
    return result;
  }
  struct ibv_cq *queue;
  void *context;
  errno = 0;
  if (ibv_get_cq_event(channel, &queue, &context)) {
    return errno == EAGAIN ? 0 : -error_now();
  }
  return to_handle(queue);
}

EXTENSION(jint, acknowledge, jlong queue, jint count) {
  if (!queue || count < 0) {
    return -EINVAL;
  }
  ibv_ack_cq_events(POINTER(struct ibv_cq, queue), (unsigned)count);
  return 0;
}
