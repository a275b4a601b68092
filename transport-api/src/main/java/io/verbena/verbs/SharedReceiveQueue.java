// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

/** A receive queue for several queue pairs. */
public interface SharedReceiveQueue extends AutoCloseable {

  /** Returns how many receives it can hold. */
  int maxWorkRequests();

  /** Returns how many buffers a receive may have. */
  int maxScatterGather();

  /**
   * Returns the limit below which one {@link AsyncEvent.Type#SRQ_LIMIT_REACHED} is raised; 0 for
   * none.
   */
  int limit();

  /** Arms the limit. */
  void limit(int limit);

  /**
   * Posts a receive and those linked to it.
   *
   * @throws PostException as {@link QueuePair#postReceive}
   */
  void postReceive(ReceiveWorkRequest request);

  /**
   * Closes it.
   *
   * @throws VerbsException {@code BUSY} while queue pairs use it
   */
  @Override
  void close();
}
