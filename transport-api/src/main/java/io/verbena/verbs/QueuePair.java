// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A send queue and a receive queue. A slot of either is held from the post until its completion was
 * polled; an unsignaled send holds its slot until a later completion of the same queue was.
 */
public interface QueuePair extends AutoCloseable {

  /** Returns its number, 24 bits. */
  int number();

  /** Returns the transport service. */
  QueuePairType type();

  /** Returns the domain that it belongs to. */
  ProtectionDomain protectionDomain();

  /** Returns the capacities that it was granted, at least those asked for. */
  QueuePairCapabilities capabilities();

  /**
   * Returns whether it can do what needs a capability: whether its device can and, once it is
   * connected, its peer, where the wire leaves that open, as iWARP's does for atomics and immediate
   * data (RFC 7306, section 1.1). Until then what the device can is returned.
   */
  default boolean supports(Capability capability) {
    return protectionDomain().device().attributes().supports(capability);
  }

  /** Returns its shared receive queue, or null. */
  @Nullable SharedReceiveQueue sharedReceiveQueue();

  /** Returns the state it is in. */
  QueuePairState state();

  /**
   * Changes state and attributes, or fails and changes nothing ({@code ibv_modify_qp(3)}).
   *
   * @throws VerbsException {@code INVALID} for a transition that does not exist, an attribute that
   *     is missing or one that does not belong to it, naming it
   */
  void modify(QueuePairAttributes attributes);

  /** Returns all attributes as they are now. */
  QueuePairAttributes query();

  /**
   * Returns what it has done so far and what it holds now. Posting and polling go on meanwhile, and
   * pay nothing for it. A closed one is in RESET.
   *
   * @throws VerbsException {@code IO} if the device cannot be asked any more
   */
  QueuePairReading reading();

  /**
   * Posts a request and those linked to it. Allocates nothing; what the requests say is copied,
   * their buffers belong to the HCA until completion.
   *
   * @throws PostException {@code INVALID} before RTS or for a request that breaks a limit, {@code
   *     NO_MEMORY} if the queue is full, {@code NOT_SUPPORTED} for an opcode that the device lacks,
   *     or {@linkplain #supports the peer}
   */
  void postSend(SendWorkRequest request);

  /**
   * Posts a bind of a window of type 1 ({@code ibv_bind_mw(3)}), and gives the window its next key
   * at once: {@link MemoryWindow#rkey} returns it from then on. The bind is done in the order of
   * the send queue and completes there as BIND_MW; the key from before opens what it opened until
   * then, and nothing any more afterwards. If the bind fails the window goes on showing what it
   * showed, under the key from before. Once it has completed the window may be bound again, through
   * any queue pair of its domain. Allocates nothing.
   *
   * @param request made by {@link SendWorkRequest#bind(MemoryWindow, MemoryRegion, int)}, and
   *     linked to none
   * @throws PostException {@code INVALID} before RTS, for a request that is not such a bind, or for
   *     a window and a region of different domains, {@code CLOSED} if one of them is closed, {@code
   *     NO_MEMORY} if the queue is full, {@code NOT_SUPPORTED} on UD and for a device that has no
   *     windows of type 1; the window keeps its key then
   */
  void bindMemoryWindow(SendWorkRequest request);

  /**
   * Posts a receive and those linked to it; as {@link #postSend}.
   *
   * @throws PostException {@code INVALID} in RESET, with a shared receive queue, or for a request
   *     that breaks a limit, {@code NO_MEMORY} if the queue is full
   */
  void postReceive(ReceiveWorkRequest request);

  /** Destroys it ({@code ibv_destroy_qp(3)}). What is pending is dropped without completion. */
  @Override
  void close();
}
