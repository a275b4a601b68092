// SPDX-License-Identifier: Apache-2.0
/*
 * The closing order of closing.c on objects that only count: what is destroyed, when, and never
 * twice. Each claim prints its name; the first that is wrong ends the program. Built with the address
 * sanitizer, so that an object that is touched after its end ends the program too, and with the
 * thread sanitizer.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../main/native/disni/closing.h"
#include "../../main/native/disni/handles.h"

#define CLAIM(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      printf("WRONG %s:%d: %s\n", __FILE__, __LINE__, #condition);     \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/* libibverbs and librdmacm: as strict as they are, and no more. */

static int open_objects;
static unsigned acknowledged;
static int disconnected;

/* What another thread makes at the very address, as soon as it is free. */
static enum handle_kind reborn_as;
static void *reborn;

static int gone(void *object) {
  if (reborn_as) {
    reborn = object;
    handle_add(object, reborn_as);
    reborn_as = 0;
    return 0;
  }
  free(object);
  open_objects--;
  return 0;
}

static void *made(size_t size) {
  open_objects++;
  return calloc(1, size);
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel) {
  return channel->refcnt ? EBUSY : gone(channel);
}

/* comp_events_completed counts down to 0 here: the real one waits until it is. */
int ibv_destroy_cq(struct ibv_cq *queue) {
  if (queue->handle) {
    return EBUSY;
  }
  CLAIM(queue->comp_events_completed == 0);
  if (queue->channel) {
    queue->channel->refcnt--;
  }
  return gone(queue);
}

void ibv_ack_cq_events(struct ibv_cq *queue, unsigned count) {
  queue->comp_events_completed -= count;
  acknowledged += count;
}

static struct ibv_cq *with_event;
static pthread_t closer;

static void *close_queue(void *queue) {
  return (void *)(intptr_t)close_completion_queue(queue);
}

/* An event, and at that moment another thread that closes the queue. */
int ibv_get_cq_event(struct ibv_comp_channel *channel, struct ibv_cq **queue, void **context) {
  (void)channel;
  *queue = with_event;
  *context = NULL;
  with_event->comp_events_completed++;
  CLAIM(pthread_create(&closer, NULL, close_queue, with_event) == 0);
  struct timespec soon;
  clock_gettime(CLOCK_REALTIME, &soon);
  soon.tv_sec++;
  CLAIM(pthread_timedjoin_np(closer, NULL, &soon) == ETIMEDOUT);
  return 0;
}

int rdma_get_cm_event(struct rdma_event_channel *channel, struct rdma_cm_event **event) {
  (void)channel, (void)event;
  errno = EAGAIN;
  return -1;
}

int rdma_ack_cm_event(struct rdma_cm_event *event) {
  (void)event;
  return 0;
}

int ibv_dealloc_pd(struct ibv_pd *domain) {
  return domain->handle ? EBUSY : gone(domain);
}

int ibv_dereg_mr(struct ibv_mr *region) {
  region->pd->handle--;
  return gone(region);
}

int ibv_destroy_qp(struct ibv_qp *pair) {
  pair->send_cq->handle--;
  pair->recv_cq->handle--;
  pair->pd->handle--;
  return gone(pair);
}

int rdma_destroy_id(struct rdma_cm_id *id) {
  CLAIM(!id->qp);
  /* It writes to the channel's file: the channel must still be there. */
  id->channel->fd--;
  return gone(id);
}

void rdma_destroy_event_channel(struct rdma_event_channel *channel) {
  CLAIM(channel->fd == 0);
  gone(channel);
}

int rdma_disconnect(struct rdma_cm_id *id) {
  CLAIM(id->qp);
  disconnected++;
  return 0;
}

/* handle and fd count users. */

static struct rdma_event_channel *event_channel(void) {
  struct rdma_event_channel *channel = made(sizeof *channel);
  handle_add(channel, EVENT_CHANNEL);
  return channel;
}

static struct rdma_cm_id *identifier(struct rdma_event_channel *channel) {
  struct rdma_cm_id *id = made(sizeof *id);
  id->channel = channel;
  channel->fd++;
  handle_add(id, IDENTIFIER);
  return id;
}

static struct ibv_pd *domain(void) {
  struct ibv_pd *domain = made(sizeof *domain);
  handle_add(domain, PROTECTION_DOMAIN);
  return domain;
}

static struct ibv_mr *region(struct ibv_pd *domain) {
  struct ibv_mr *region = made(sizeof *region);
  region->pd = domain;
  domain->handle++;
  handle_add(region, MEMORY_REGION);
  return region;
}

static struct ibv_comp_channel *completion_channel(void) {
  struct ibv_comp_channel *channel = made(sizeof *channel);
  handle_add(channel, COMPLETION_CHANNEL);
  return channel;
}

static struct ibv_cq *completion_queue(struct ibv_comp_channel *channel) {
  struct ibv_cq *queue = made(sizeof *queue);
  queue->channel = channel;
  channel->refcnt++;
  handle_add(queue, COMPLETION_QUEUE);
  return queue;
}

static struct ibv_qp *queue_pair(struct rdma_cm_id *id, struct ibv_pd *domain,
                                 struct ibv_cq *queue) {
  struct ibv_qp *pair = made(sizeof *pair);
  pair->pd = domain;
  pair->send_cq = queue;
  pair->recv_cq = queue;
  domain->handle++;
  queue->handle += 2;
  id->qp = pair;
  handle_add(pair, QUEUE_PAIR);
  return pair;
}

static void closes_the_completion_channel_with_its_last_queue(void) {
  struct ibv_comp_channel *channel = completion_channel();
  struct ibv_cq *first = completion_queue(channel);
  struct ibv_cq *second = completion_queue(channel);
  CLAIM(close_completion_channel(channel) == 0);
  CLAIM(!handle_usable(channel, COMPLETION_CHANNEL));
  CLAIM(close_completion_queue(first) == 0);
  CLAIM(open_objects == 2);
  CLAIM(close_completion_queue(second) == 0);
  CLAIM(open_objects == 0);
}

static void closes_nothing_twice(void) {
  struct ibv_comp_channel *channel = completion_channel();
  struct ibv_cq *queue = completion_queue(channel);
  CLAIM(close_completion_queue(queue) == 0);
  CLAIM(close_completion_queue(queue) == EBADF);
  CLAIM(close_completion_channel(channel) == 0);
  CLAIM(close_completion_channel(channel) == EBADF);
  CLAIM(close_completion_channel(NULL) == EBADF);
  CLAIM(open_objects == 0);
}

static void closes_twice_what_waits_only_once(void) {
  struct ibv_comp_channel *channel = completion_channel();
  struct ibv_cq *queue = completion_queue(channel);
  CLAIM(close_completion_channel(channel) == 0);
  CLAIM(close_completion_channel(channel) == EBADF);
  CLAIM(close_completion_queue(queue) == 0);
  CLAIM(open_objects == 0);
}

static void acknowledges_the_rest_of_the_events(void) {
  struct ibv_comp_channel *channel = completion_channel();
  struct ibv_cq *queue = completion_queue(channel);
  queue->comp_events_completed = 3;
  atomic_store(&handle_find(queue, COMPLETION_QUEUE)->unacknowledged, 3);
  acknowledged = 0;
  CLAIM(close_completion_queue(queue) == 0);
  CLAIM(acknowledged == 3);
  CLAIM(close_completion_channel(channel) == 0);
  CLAIM(open_objects == 0);
}

static void closes_all_that_waited_with_the_queue_pair(void) {
  struct rdma_event_channel *events = event_channel();
  struct rdma_cm_id *id = identifier(events);
  struct ibv_pd *pd = domain();
  struct ibv_comp_channel *channel = completion_channel();
  struct ibv_cq *queue = completion_queue(channel);
  queue_pair(id, pd, queue);
  CLAIM(close_domain(pd) == 0);
  CLAIM(close_completion_channel(channel) == 0);
  CLAIM(close_completion_queue(queue) == 0);
  CLAIM(open_objects == 6);
  CLAIM(close_queue_pair_of(id) == 0);
  CLAIM(open_objects == 2);
  CLAIM(close_queue_pair_of(id) == EBADF);
  CLAIM(close_identifier(id) == 0);
  CLAIM(close_identifier(id) == EBADF);
  CLAIM(close_event_channel(events) == 0);
  CLAIM(open_objects == 0);
}

static void closes_the_queue_pair_with_its_identifier(void) {
  struct rdma_event_channel *events = event_channel();
  struct rdma_cm_id *id = identifier(events);
  struct ibv_pd *pd = domain();
  struct ibv_comp_channel *channel = completion_channel();
  struct ibv_cq *queue = completion_queue(channel);
  struct ibv_qp *pair = queue_pair(id, pd, queue);
  CLAIM(close_identifier(id) == 0);
  CLAIM(!handle_usable(pair, QUEUE_PAIR));
  CLAIM(close_completion_queue(queue) == 0);
  CLAIM(close_completion_channel(channel) == 0);
  CLAIM(close_domain(pd) == 0);
  CLAIM(close_event_channel(events) == 0);
  CLAIM(open_objects == 0);
}

static void closes_the_domain_with_its_last_region(void) {
  struct ibv_pd *pd = domain();
  struct ibv_mr *mr = region(pd);
  CLAIM(close_domain(pd) == 0);
  CLAIM(open_objects == 2);
  CLAIM(close_region(mr) == 0);
  CLAIM(open_objects == 0);
  CLAIM(close_region(mr) == EBADF);
}

static void ends_listeners_with_their_channel_and_keeps_it_for_connections(void) {
  struct rdma_event_channel *events = event_channel();
  struct rdma_cm_id *listener = identifier(events);
  struct rdma_cm_id *connection = identifier(events);
  struct ibv_pd *pd = domain();
  struct ibv_comp_channel *channel = completion_channel();
  struct ibv_cq *queue = completion_queue(channel);
  queue_pair(connection, pd, queue);
  disconnected = 0;
  CLAIM(close_event_channel(events) == 0);
  CLAIM(!handle_usable(listener, IDENTIFIER));
  CLAIM(close_identifier(listener) == EBADF);
  CLAIM(handle_usable(connection, IDENTIFIER));
  CLAIM(disconnected == 1);
  CLAIM(close_event_channel(events) == EBADF);
  CLAIM(open_objects == 6);
  CLAIM(close_identifier(connection) == 0);
  CLAIM(open_objects == 3);
  CLAIM(close_completion_queue(queue) == 0);
  CLAIM(close_completion_channel(channel) == 0);
  CLAIM(close_domain(pd) == 0);
  CLAIM(open_objects == 0);
}

static void knows_a_new_object_at_an_old_address(void) {
  struct ibv_pd *pd = domain();
  handle_add(pd, PROTECTION_DOMAIN);
  atomic_store(&handle_find(pd, PROTECTION_DOMAIN)->state, HANDLE_GONE);
  CLAIM(!handle_usable(pd, PROTECTION_DOMAIN));
  CLAIM(handle_usable(pd, MEMORY_REGION));
  handle_add(pd, PROTECTION_DOMAIN);
  CLAIM(handle_usable(pd, PROTECTION_DOMAIN));
  CLAIM(close_domain(pd) == 0);
  CLAIM(open_objects == 0);
}

static void knows_a_new_object_that_was_made_before_the_close_returned(void) {
  struct ibv_pd *pd = domain();
  struct ibv_mr *mr = region(pd);
  reborn_as = MEMORY_REGION;
  CLAIM(close_region(mr) == 0);
  CLAIM(reborn == mr);
  CLAIM(handle_usable(mr, MEMORY_REGION));
  mr->pd->handle++;
  CLAIM(close_region(mr) == 0);
  CLAIM(close_domain(pd) == 0);
  CLAIM(open_objects == 0);
}

static void counts_an_event_before_its_queue_can_be_closed(void) {
  struct ibv_comp_channel *channel = completion_channel();
  with_event = completion_queue(channel);
  acknowledged = 0;
  CLAIM(take_completion_event(channel) == 0);
  void *closed;
  CLAIM(pthread_join(closer, &closed) == 0);
  CLAIM(closed == NULL);
  CLAIM(acknowledged == 1);
  CLAIM(close_completion_channel(channel) == 0);
  CLAIM(take_completion_event(channel) == EBADF);
  CLAIM(open_objects == 0);
}

static void tells_a_closed_event_channel_from_one_without_events(void) {
  struct rdma_event_channel *events = event_channel();
  struct rdma_cm_event event;
  CLAIM(take_connection_event(events, &event) == EAGAIN);
  CLAIM(close_event_channel(events) == 0);
  CLAIM(take_connection_event(events, &event) == EBADF);
  CLAIM(descriptor_of_event_channel(events) == -EBADF);
}

static void takes_what_others_made_at_its_word(void) {
  struct ibv_pd *pd = made(sizeof *pd);
  CLAIM(handle_usable(pd, PROTECTION_DOMAIN));
  pd->handle = 1;
  CLAIM(close_domain(pd) == EBUSY);
  pd->handle = 0;
  CLAIM(close_domain(pd) == 0);
  CLAIM(open_objects == 0);
}

#define RUN(claim) \
  claim();         \
  puts(#claim)

int main(void) {
  /* First: later it could be at the address of one of ours that is gone. */
  RUN(takes_what_others_made_at_its_word);
  RUN(closes_the_completion_channel_with_its_last_queue);
  RUN(closes_nothing_twice);
  RUN(closes_twice_what_waits_only_once);
  RUN(acknowledges_the_rest_of_the_events);
  RUN(closes_all_that_waited_with_the_queue_pair);
  RUN(closes_the_queue_pair_with_its_identifier);
  RUN(closes_the_domain_with_its_last_region);
  RUN(ends_listeners_with_their_channel_and_keeps_it_for_connections);
  RUN(knows_a_new_object_at_an_old_address);
  RUN(knows_a_new_object_that_was_made_before_the_close_returned);
  RUN(counts_an_event_before_its_queue_can_be_closed);
  RUN(tells_a_closed_event_channel_from_one_without_events);
  return 0;
}
