// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A send queue and a receive queue ({@code ibv_qp}). A work request holds its slot from the post
 * until its completion is polled; an unsignaled send holds its slot until a later completion of the
 * same queue is polled.
 */
public interface QueuePair extends AutoCloseable {

  /** Returns the queue pair number, 24 bits. */
  int number();

  /** Returns the transport service. */
  QueuePairType type();

  /** Returns the protection domain of the queue pair. */
  ProtectionDomain protectionDomain();

  /** Returns the granted capacities, at least those of the {@link QueuePairOptions}. */
  QueuePairCapabilities capabilities();

  /**
   * Returns whether the queue pair has a capability: whether its device has it and, once connected,
   * whether the peer has it too, if the wire leaves that open. iWARP does so for atomics and
   * immediate data (RFC 7306, section 1.1). Before the connection only the device counts.
   */
  default boolean supports(Capability capability) {
    return protectionDomain().device().attributes().supports(capability);
  }

  /** Returns the shared receive queue, or null. */
  @Nullable SharedReceiveQueue sharedReceiveQueue();

  /** Returns the current state. */
  QueuePairState state();

  /**
   * Changes state and attributes, or fails and changes nothing ({@code ibv_modify_qp(3)}).
   *
   * @throws VerbsException {@code INVALID}, naming the transition or attribute, if the transition
   *     does not exist, or an attribute is missing or does not belong to it
   */
  void modify(QueuePairAttributes attributes);

  /** Returns the current values of all attributes. */
  QueuePairAttributes query();

  /**
   * Returns a snapshot of the queue pair's state and counts. Posting and polling continue
   * meanwhile, at no cost. A closed queue pair is in RESET.
   *
   * @throws VerbsException {@code IO} if the device no longer answers
   */
  QueuePairReading reading();

  /**
   * Posts a request and those linked to it. Allocates nothing. The requests are copied and may be
   * reused at once; their buffers belong to the HCA until completion.
   *
   * @throws PostException {@code INVALID} before RTS or for a request that breaks a limit, {@code
   *     NO_MEMORY} if the queue is full, {@code NOT_SUPPORTED} for an opcode that the device, or
   *     {@linkplain #supports the peer}, lacks
   */
  void postSend(SendWorkRequest request);

  /**
   * Posts a bind of a window of type 1 ({@code ibv_bind_mw(3)}), and gives the window its next key
   * at once: {@link MemoryWindow#rkey} returns the new key from then on. The bind runs in the order
   * of the send queue and completes there as BIND_MW. Until then the old key is valid for the old
   * range; afterwards it is invalid. If the bind fails, the old key and range stay valid. After the
   * completion the window may be bound again, through any queue pair of its domain. Allocates
   * nothing.
   *
   * @param request a request made by {@link SendWorkRequest#bind(MemoryWindow, MemoryRegion, int)},
   *     linked to no other
   * @throws PostException {@code INVALID} before RTS, for a request that is not such a bind, or for
   *     a window and a region of different domains, {@code CLOSED} if one of them is closed, {@code
   *     NO_MEMORY} if the queue is full, {@code NOT_SUPPORTED} on UD and for a device without
   *     windows of type 1; the window then keeps its key
   */
  void bindMemoryWindow(SendWorkRequest request);

  /**
   * Posts a receive and those linked to it, as {@link #postSend} does.
   *
   * @throws PostException {@code INVALID} in RESET, with a shared receive queue, or for a request
   *     that breaks a limit, {@code NO_MEMORY} if the queue is full
   */
  void postReceive(ReceiveWorkRequest request);

  /**
   * Destroys the queue pair ({@code ibv_destroy_qp(3)}). Pending requests are dropped without
   * completion.
   */
  @Override
  void close();
}
