// SPDX-License-Identifier: Apache-2.0
/*
 * Destroys objects in DiSNI's order, which is not the order that rdma-core requires: DiSNI destroys
 * a completion channel before its queue (RdmaCqProvider), an event channel before its identifiers,
 * and a protection domain before the objects in it. Such an object is closed for the program at
 * once, and destroyed as soon as its last user is. Destroying an object twice returns EBADF.
 *
 * All functions return 0 or an errno.
 */
#ifndef VERBENA_CLOSING_H
#define VERBENA_CLOSING_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/*
 * Destroys the channel's identifiers that have no queue pair, as the kernel does. Disconnects those
 * that have one; they delay the end of the channel until they are destroyed.
 */
int close_event_channel(struct rdma_event_channel *channel);

/* Also destroys its queue pair, if it still has one. */
int close_identifier(struct rdma_cm_id *id);

int close_queue_pair_of(struct rdma_cm_id *id);

int close_region(struct ibv_mr *region);

/* Acknowledges the remaining events first; ibv_destroy_cq(3) would wait for that for ever. */
int close_completion_queue(struct ibv_cq *queue);

int close_completion_channel(struct ibv_comp_channel *channel);

int close_domain(struct ibv_pd *domain);

/*
 * Take an event, under the lock for closing: an event is counted before its queue can be closed,
 * because closing waits until all events taken are acknowledged. Neither waits for an event.
 */
int take_completion_event(struct ibv_comp_channel *channel);

/* Acknowledges the event; the pointers of the copy are invalid. */
int take_connection_event(struct rdma_event_channel *channel, struct rdma_cm_event *copy);

/* Return the file descriptor to wait for, or -EBADF. */
int descriptor_of_completion_channel(const struct ibv_comp_channel *channel);
int descriptor_of_event_channel(const struct rdma_event_channel *channel);

#endif
