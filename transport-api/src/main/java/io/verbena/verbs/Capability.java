// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/**
 * An ability that a device may lack. A verb that needs a missing one fails with {@link
 * VerbsError#NOT_SUPPORTED}; nothing is imitated.
 */
public enum Capability {
  /** Queue pairs of type {@link QueuePairType#UC}. */
  UNRELIABLE_CONNECTED,
  /** Queue pairs of type {@link QueuePairType#UD} and address handles; no multicast groups. */
  UNRELIABLE_DATAGRAM,
  /** Immediate data with a WRITE, WRITE_WITH_IMM. */
  IMMEDIATE_DATA,
  /**
   * Immediate data with a SEND, too, SEND_WITH_IMM. Without it, as with iWARP, whose immediate data
   * takes a receive by itself (RFC 7306, section 6), it comes with a WRITE alone.
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
   * READs into memory that the peer may not write. Without it, as with iWARP, the buffers of a READ
   * need {@link Access#REMOTE_WRITE} too: the request gives the peer a key to write with.
   */
  LOCAL_READ_SINKS,
  /**
   * Queue pairs that a program connects by their attributes: {@link AddressVector}, number and PSN.
   * Without it, as with iWARP, only a {@link ConnectionManager} connects.
   */
  ADDRESS_VECTORS,
  /**
   * A responder that reports to a requester what was wrong with its request, or that no receive is
   * posted yet, in which case the request is repeated. Without it, as with iWARP, a SEND or WRITE
   * completes when it is sent, and a request that the peer refuses ends the connection: a READ is
   * flushed with all the rest.
   */
  REQUEST_STATUS
}
