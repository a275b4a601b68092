// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** A receive queue that several queue pairs share ({@code ibv_srq}). */
public interface SharedReceiveQueue extends AutoCloseable {

  /** Returns the most receives that the queue can hold. */
  int maxWorkRequests();

  /** Returns the most buffers of a receive. */
  int maxScatterGather();

  /**
   * Returns the number of receives below which one {@link AsyncEvent.Type#SRQ_LIMIT_REACHED} is
   * raised; 0 for none.
   */
  int limit();

  /** Sets and arms the limit, in receives; the event is raised once. */
  void limit(int limit);

  /**
   * Posts a receive and those linked to it.
   *
   * @throws PostException as {@link QueuePair#postReceive}
   */
  void postReceive(ReceiveWorkRequest request);

  /**
   * Closes the queue.
   *
   * @throws VerbsException {@code BUSY} while queue pairs use the queue
   */
  @Override
  void close();
}
