// SPDX-License-Identifier: Apache-2.0
/*
 * What several threads do at a time with the native libraries: taking events while what they are
 * about is closed, and closing. On the fake rdma-core, with the thread sanitizer, which ends the
 * program with an error after its report. Each claim prints its name.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../main/native/common/waiting.h"
#include "../../main/native/disni/closing.h"
#include "../../main/native/disni/handles.h"
#include "../../main/native/extension/natives.h"
#include "fake-rdma-core/fake.h"

#define ROUNDS 2000
#define THREADS 4

#define CLAIM(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("WRONG %s:%d: %s\n", __FILE__, __LINE__, #condition);     \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* The methods of Extension, as Java calls them. */
#define CALL(name, ...) Java_io_verbena_disni_Extension_##name(NULL, NULL, ##__VA_ARGS__)

static struct ibv_context *context;
static struct ibv_pd *domain;

/* Of the claim that runs: set when the thread that closes has done so for the last time. */
static _Atomic bool done;

static pthread_t started(void *(*run)(void *), void *argument) {
  pthread_t thread;
  CLAIM(!pthread_create(&thread, NULL, run, argument));
  return thread;
}

static void joined(pthread_t thread) {
  CLAIM(!pthread_join(thread, NULL));
}

static void play(const char *line) {
  char text[64];
  snprintf(text, sizeof text, "%s", line);
  CLAIM(script(text));
}

static struct ibv_context *opened(const char *device) {
  char name[64] = {0};
  snprintf(name, sizeof name, "%s", device);
  jlong result = CALL(context, to_handle(name));
  return result > 0 ? POINTER(struct ibv_context, result) : NULL;
}

/* A queue pair that fails with receives posted, and is gone. */
static void fail_one(struct ibv_cq *queue, struct ibv_srq *shared) {
  struct ibv_qp_init_attr wish = {.qp_type = IBV_QPT_RC,
                                  .send_cq = queue,
                                  .recv_cq = queue,
                                  .srq = shared,
                                  .cap = {.max_send_wr = 1, .max_recv_wr = 1, .max_recv_sge = 1}};
  struct ibv_qp *pair = ibv_create_qp(domain, &wish);
  CLAIM(pair);
  struct ibv_qp_attr attr = {.qp_state = IBV_QPS_INIT, .port_num = 1};
  CLAIM(!ibv_modify_qp(pair, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX));
  if (!shared) {
    CLAIM(!CALL(postOneReceive, to_handle(pair), 1, 0, 0, 0));
  }
  attr.qp_state = IBV_QPS_ERR;
  CLAIM(!ibv_modify_qp(pair, &attr, IBV_QP_STATE));
  CLAIM(!CALL(destroyQueuePair, to_handle(pair)));
}

/* ---- completion events */

static void *take_completion_events(void *argument) {
  struct ibv_comp_channel *channel = argument;
  while (!done) {
    int fd = descriptor_of_completion_channel(channel);
    if (fd >= 0 && waiting_for(fd, -1, waiting_deadline(1)) & WAIT_READABLE) {
      int error = take_completion_event(channel);
      CLAIM(!error || error == EAGAIN || error == EBADF);
    }
  }
  return NULL;
}

static void closes_queues_while_their_events_are_taken(void) {
  struct ibv_comp_channel *channel = ibv_create_comp_channel(context);
  CLAIM(channel && !waiting_nonblocking(channel->fd));
  handle_add(channel, COMPLETION_CHANNEL);
  pthread_t takers[THREADS];
  done = false;
  for (int i = 0; i < THREADS; i++) {
    takers[i] = started(take_completion_events, channel);
  }
  for (int i = 0; i < ROUNDS; i++) {
    struct ibv_cq *queue = ibv_create_cq(context, 4, NULL, channel, 0);
    handle_add(queue, COMPLETION_QUEUE);
    CLAIM(!CALL(arm, to_handle(queue), false));
    fail_one(queue, NULL);
    CLAIM(!close_completion_queue(queue));
  }
  CLAIM(!close_completion_channel(channel));
  done = true;
  for (int i = 0; i < THREADS; i++) {
    joined(takers[i]);
  }
}

/* ---- events of the connection manager */

static void *take_connection_events(void *argument) {
  struct rdma_event_channel *channel = argument;
  int error = 0;
  while (error != EBADF) {
    int fd = descriptor_of_event_channel(channel);
    error = fd < 0 ? -fd : 0;
    if (!error && waiting_for(fd, -1, waiting_deadline(1)) & WAIT_READABLE) {
      struct rdma_cm_event event;
      error = take_connection_event(channel, &event);
      CLAIM(!error || error == EAGAIN || error == EBADF);
    }
  }
  return NULL;
}

static void closes_channels_while_their_events_are_taken(void) {
  struct sockaddr_in target = {.sin_family = AF_INET};
  target.sin_addr.s_addr = htobe32(0x0a000102);
  for (int i = 0; i < ROUNDS / 10; i++) {
    struct rdma_event_channel *channel = rdma_create_event_channel();
    CLAIM(channel && !waiting_nonblocking(channel->fd));
    handle_add(channel, EVENT_CHANNEL);
    pthread_t takers[] = {started(take_connection_events, channel),
                          started(take_connection_events, channel)};
    struct rdma_cm_id *ids[3];
    for (int j = 0; j < 3; j++) {
      CLAIM(!rdma_create_id(channel, &ids[j], NULL, RDMA_PS_TCP));
      handle_add(ids[j], IDENTIFIER);
      CLAIM(!rdma_resolve_addr(ids[j], NULL, (struct sockaddr *)&target, 1));
    }
    CLAIM(!close_identifier(ids[0]));
    CLAIM(!close_event_channel(channel));
    CLAIM(close_identifier(ids[1]) == EBADF);
    joined(takers[0]);
    joined(takers[1]);
  }
}

/* ---- regions, whose addresses are used again and again */

static void *make_and_close_regions(void *unused) {
  static char memory[64];
  for (int i = 0; i < ROUNDS; i++) {
    struct ibv_mr *region = ibv_reg_mr_iova2(domain, memory, sizeof memory, 0, 0);
    CLAIM(region);
    handle_add(region, MEMORY_REGION);
    CLAIM(handle_usable(region, MEMORY_REGION));
    CLAIM(!close_region(region));
  }
  return unused;
}

static void closes_regions_while_others_are_made(void) {
  pthread_t makers[THREADS];
  handle_add(domain, PROTECTION_DOMAIN);
  for (int i = 0; i < THREADS; i++) {
    makers[i] = started(make_and_close_regions, NULL);
  }
  for (int i = 0; i < THREADS; i++) {
    joined(makers[i]);
  }
}

/* ---- asynchronous events */

static void *take_async_events(void *unused) {
  jlong words[ASYNC_ELEMENT + 1];
  while (!done) {
    int came = CALL(asyncEvent, to_handle(context), -1, 1, to_handle(words));
    CLAIM(came >= 0);
    if (came) {
      CLAIM(!CALL(acknowledgeAsyncEvent, to_handle(words)));
    }
  }
  return unused;
}

static void destroys_queues_while_asynchronous_events_are_taken(void) {
  pthread_t takers[THREADS];
  done = false;
  for (int i = 0; i < THREADS; i++) {
    takers[i] = started(take_async_events, NULL);
  }
  struct ibv_cq *queue = ibv_create_cq(context, 4, NULL, NULL, 0);
  jlong port[PORT_LID + 1];
  for (int i = 0; i < ROUNDS; i++) {
    jlong words[] = {[SHARED_RECEIVE_MAX_WR] = 4, [SHARED_RECEIVE_MAX_SGE] = 1,
                     [SHARED_RECEIVE_LIMIT] = 0};
    jlong shared = CALL(createSharedReceiveQueue, to_handle(domain), to_handle(words));
    CLAIM(shared > 0);
    fail_one(queue, POINTER(struct ibv_srq, shared));
    play(i % 2 ? "down mlx5_0 1" : "up mlx5_0 1");
    play("break-srq mlx5_0");
    CLAIM(!CALL(queryPort, to_handle(context), 1, to_handle(port)));
    CLAIM(!CALL(destroySharedReceiveQueue, shared));
  }
  play("up mlx5_0 1");
  done = true;
  for (int i = 0; i < THREADS; i++) {
    joined(takers[i]);
  }
  CLAIM(!CALL(destroyCompletionQueue, to_handle(queue)));
}

/* ---- devices */

static _Atomic int opens;

static void *open_devices(void *unused) {
  char name[64];
  while (!done) {
    /* Never one that is gone: a context that was handed out stays. */
    struct ibv_context *found = opened("mlx5_20");
    CLAIM(!found || !CALL(deviceName, to_handle(found), to_handle(name)));
    CLAIM(!found || !strcmp(name, "mlx5_20"));
    CLAIM(opened("mlx5_0") == context);
    opens++;
  }
  return unused;
}

static void opens_devices_while_one_comes_and_goes(void) {
  pthread_t openers[THREADS];
  done = false;
  for (int i = 0; i < THREADS; i++) {
    openers[i] = started(open_devices, NULL);
  }
  for (int i = 0; i < ROUNDS / 10; i++) {
    play("remove mlx5_20");
    play("return mlx5_20");
    int before = opens;
    while (opens < before + THREADS) {
      sched_yield();
    }
  }
  done = true;
  for (int i = 0; i < THREADS; i++) {
    joined(openers[i]);
  }
}

#define RUN(claim) \
  claim();         \
  puts(#claim)

int main(void) {
  context = opened("mlx5_0");
  CLAIM(context);
  domain = ibv_alloc_pd(context);
  RUN(closes_queues_while_their_events_are_taken);
  RUN(closes_channels_while_their_events_are_taken);
  RUN(closes_regions_while_others_are_made);
  RUN(destroys_queues_while_asynchronous_events_are_taken);
  RUN(opens_devices_while_one_comes_and_goes);
  return 0;
}
