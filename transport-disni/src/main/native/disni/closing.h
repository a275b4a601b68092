// SPDX-License-Identifier: Apache-2.0
/*
 * Destroying objects in the order in which DiSNI does it, which is not the order that rdma-core asks
 * for: a completion channel before its queue (RdmaCqProvider), an event channel before its
 * identifiers, protection domains before what is in them. Such an object is destroyed as soon as the
 * last user of it is; until then it is closed for the program. Destroying anything twice answers
 * EBADF.
 *
 * All answer 0 or an errno.
 */
#ifndef VERBENA_CLOSING_H
#define VERBENA_CLOSING_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

/*
 * Identifiers that have no queue pair end with their channel, as they do when the kernel closes it;
 * those that have one are disconnected, and hold it until they are destroyed.
 */
int close_event_channel(struct rdma_event_channel *channel);

/* With its queue pair, if it still has one. */
int close_identifier(struct rdma_cm_id *id);

int close_queue_pair_of(struct rdma_cm_id *id);

int close_region(struct ibv_mr *region);

/* Acknowledges what the program did not, or ibv_destroy_cq(3) would wait for it for ever. */
int close_completion_queue(struct ibv_cq *queue);

int close_completion_channel(struct ibv_comp_channel *channel);

int close_domain(struct ibv_pd *domain);

/*
 * Taking events, while nothing is destroyed: an event that was taken is counted before its queue can
 * be closed, which waits until all that were taken are acknowledged. Neither waits for an event.
 */
int take_completion_event(struct ibv_comp_channel *channel);

/* Acknowledges it; of the copy, what it points to is gone. */
int take_connection_event(struct rdma_event_channel *channel, struct rdma_cm_event *copy);

/* What to wait for, or -EBADF. */
int descriptor_of_completion_channel(const struct ibv_comp_channel *channel);
int descriptor_of_event_channel(const struct rdma_event_channel *channel);

#endif
