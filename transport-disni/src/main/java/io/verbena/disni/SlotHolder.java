// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * A queue whose requests hold slots until their completions are polled. A class rather than an
 * interface, because calls on it are made for each completion.
 */
abstract class SlotHolder {
  private volatile int tag;
  private volatile boolean datagrams;
  private volatile boolean onInfiniBand;

  /** Returns the current tag of the {@linkplain Cookie cookies} of its requests. */
  final int tag() {
    return tag;
  }

  final void tag(int now) {
    tag = now;
  }

  /**
   * Returns whether a queue pair's completions of this queue are of datagrams, whose receives begin
   * with a GRH and name their sender.
   */
  final boolean isOfDatagrams(int queuePair) {
    return datagrams && takesDatagrams(queuePair);
  }

  /** Returns whether a queue pair of this queue is of datagrams; asked only if one of them is. */
  boolean takesDatagrams(int queuePair) {
    return true;
  }

  /** Returns whether completions of datagrams have the sender's LID. */
  final boolean isOnInfiniBand() {
    return onInfiniBand;
  }

  /**
   * Records that a queue pair of this queue is of datagrams.
   *
   * @param at the port of the datagrams
   */
  final void noteDatagrams(DisniPort at) {
    onInfiniBand = at.isInfiniBand();
    datagrams = true;
  }

  /**
   * Frees the slot of a request whose completion is being polled, and in a send or receive queue
   * the slots of all requests before it. Called by one poller of a completion queue at a time.
   *
   * @param queuePair the number of the queue pair that completed the request
   * @return the id that the program gave it
   */
  abstract long free(boolean receive, int sequence, int queuePair);

  /**
   * Called when a request has completed with an error, which means that an RC queue pair is in ERR.
   */
  abstract void failed();
}
