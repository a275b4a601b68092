package io.verbena.verbs;

import org.jspecify.annotations.Nullable;

/**
 * A send queue and a receive queue. A slot of either is held from the post until its completion was
 * polled; an unsignaled send holds its slot until a later completion of the same queue was.
 */
public interface QueuePair extends AutoCloseable {

  /** Its number, 24 bits. */
  int number();

  /** The transport service. */
  QueuePairType type();

  /** The domain that it belongs to. */
  ProtectionDomain protectionDomain();

  /** The capacities that it was granted, at least those asked for. */
  QueuePairCapabilities capabilities();

  /** Its shared receive queue, or null. */
  @Nullable SharedReceiveQueue sharedReceiveQueue();

  /** The state it is in. */
  QueuePairState state();

  /**
   * Changes state and attributes, or fails and changes nothing ({@code ibv_modify_qp(3)}).
   *
   * @throws VerbsException {@code INVALID} for a transition that does not exist, an attribute that
   *     is missing or one that does not belong to it, naming it
   */
  void modify(QueuePairAttributes attributes);

  /** All attributes as they are now. */
  QueuePairAttributes query();

  /**
   * Posts a request and those linked to it. Allocates nothing; what the requests say is copied,
   * their buffers belong to the HCA until completion.
   *
   * @throws PostException {@code INVALID} before RTS or for a request that breaks a limit, {@code
   *     NO_MEMORY} if the queue is full, {@code NOT_SUPPORTED} for an opcode that the device lacks
   */
  void postSend(SendWorkRequest request);

  /**
   * Posts a receive and those linked to it; as {@link #postSend}.
   *
   * @throws PostException {@code INVALID} in RESET, with a shared receive queue, or for a request
   *     that breaks a limit, {@code NO_MEMORY} if the queue is full
   */
  void postReceive(ReceiveWorkRequest request);

  /**
   * Destroys it. What is pending is dropped without completion, as {@code ibv_destroy_qp(3)} does.
   */
  @Override
  void close();
}
