// SPDX-License-Identifier: Apache-2.0
package io.verbena.disni;

/**
 * A queue whose requests hold slots until their completions are polled. A class, since what every
 * completion asks of it should not be a call of an interface.
 */
abstract class SlotHolder {
  private volatile int tag;
  private volatile boolean datagrams;
  private volatile boolean onInfiniBand;

  /** Returns what the {@linkplain Cookie cookies} of its requests begin with now. */
  final int tag() {
    return tag;
  }

  final void tag(int now) {
    tag = now;
  }

  /**
   * Returns whether what a queue pair does here is of datagrams, whose receives begin with a GRH
   * and name their sender.
   */
  final boolean isOfDatagrams(int queuePair) {
    return datagrams && takesDatagrams(queuePair);
  }

  /** Returns whether that queue pair is of datagrams, where one of its own may be. */
  boolean takesDatagrams(int queuePair) {
    return true;
  }

  /** Returns whether these are told by which LID they came. */
  final boolean isOnInfiniBand() {
    return onInfiniBand;
  }

  /**
   * Notes that it may be of datagrams.
   *
   * @param at the port that they come by
   */
  final void noteDatagrams(DisniPort at) {
    onInfiniBand = at.isInfiniBand();
    datagrams = true;
  }

  /**
   * Frees the slot of a request whose completion is being polled, and in a send or receive queue
   * those before it. Called by one poller of a completion queue at a time.
   *
   * @param queuePair the number of the queue pair that did it
   * @return the id that the program gave it
   */
  abstract long free(boolean receive, int sequence, int queuePair);

  /** A request completed with an error: by the rules of RC the queue pair is in ERR. */
  abstract void failed();
}
