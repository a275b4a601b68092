// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * An ability that a device may lack. A verb that needs a missing one fails with {@link
 * VerbsError#NOT_SUPPORTED}; no missing capability is imitated.
 */
public enum Capability {
  /** Queue pairs of type {@link QueuePairType#UC}. */
  UNRELIABLE_CONNECTED,
  /** Queue pairs of type {@link QueuePairType#UD} and address handles; no multicast groups. */
  UNRELIABLE_DATAGRAM,
  /** Immediate data with a WRITE, WRITE_WITH_IMM. */
  IMMEDIATE_DATA,
  /**
   * Immediate data with a SEND: SEND_WITH_IMM. Without this capability only a WRITE carries
   * immediate data, as on iWARP, whose immediate data takes a receive of its own (RFC 7306, section
   * 6).
   */
  SEND_WITH_IMMEDIATE,
  /** Compare-and-swap and fetch-and-add, 8 bytes wide. */
  ATOMICS,
  /** Work requests that carry their payload. */
  INLINE_DATA,
  /** Shared receive queues. */
  SHARED_RECEIVE_QUEUE,
  /** Memory windows of type 1. */
  MEMORY_WINDOW_TYPE_1,
  /** Memory windows of type 2B and the BIND_MW work request. */
  MEMORY_WINDOW_TYPE_2B,
  /** SEND_WITH_INV. */
  SEND_WITH_INVALIDATE,
  /** LOCAL_INV. */
  LOCAL_INVALIDATE,
  /** {@link MemoryRegion#reregister}. */
  REREGISTRATION,
  /** {@link CompletionQueue#resize}. */
  COMPLETION_QUEUE_RESIZE,
  /** The state {@link QueuePairState#SQD} and its drained event. */
  SEND_QUEUE_DRAIN,
  /**
   * READs into memory that the peer may not write. Without this capability, as on iWARP, the
   * buffers of a READ also need {@link Access#REMOTE_WRITE}: the request gives the peer a key to
   * write with.
   */
  LOCAL_READ_SINKS,
  /**
   * Queue pairs that a program connects by their attributes: {@link AddressVector}, number and PSN.
   * Without this capability, as on iWARP, only a {@link ConnectionManager} connects.
   */
  ADDRESS_VECTORS,
  /**
   * A responder that reports to the requester why it refused a request, or that no receive is
   * posted yet; in the latter case the requester sends again. Without this capability, as on iWARP,
   * a SEND or WRITE completes when it is sent, and a request that the peer refuses ends the
   * connection: a refused READ is flushed with all other requests.
   */
  REQUEST_STATUS
}
