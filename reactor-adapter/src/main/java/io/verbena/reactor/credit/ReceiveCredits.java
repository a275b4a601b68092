// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/**
 * Credits to the peer: the total that it may have sent, and the part of it that was announced to
 * the peer. Counters are totals modulo 2<sup>32</sup>, as they are on the wire.
 */
public class ReceiveCredits {
  /** The number of unannounced credits that is worth a frame of its own. */
  int threshold;

  private int limit;
  private int announced;
  private int arrived;

  /**
   * @param first the first grant, told in the handshake
   * @param threshold how many unannounced credits are worth a frame of their own
   */
  public ReceiveCredits(int first, int threshold) {
    this.threshold = threshold;
    limit = first;
    announced = first;
  }

  /** Counts one that arrived; returns false if the peer had no credit for it. */
  public boolean arrive() {
    arrived++;
    return announced - arrived >= 0;
  }

  /** Counts so many as if they had arrived. */
  final void arrive(int count) {
    arrived += count;
  }

  /** Grants so many more. */
  final void add(int count) {
    limit += count;
  }

  /** Returns the number of credits that were announced and not used by arrivals. */
  final int onTheirWay() {
    return announced - arrived;
  }

  /** Counts one that was dealt with: the peer may send another. */
  public void free() {
    limit++;
  }

  /** The total of what arrived. */
  public int arrived() {
    return arrived;
  }

  /** Returns the number of arrivals that were not dealt with, up to the first grant. */
  public int held(int first) {
    return first - (limit - arrived);
  }

  /** The total to announce, which from now on counts as announced. */
  public int announce() {
    announced = limit;
    return limit;
  }

  /** Returns whether enough credits are unannounced to make a frame worthwhile. */
  public boolean reached() {
    return limit - announced >= threshold;
  }

  /**
   * Returns whether credits should be announced to the peer: enough are unannounced, or it may be
   * out of credits.
   */
  public boolean due() {
    int unannounced = limit - announced;
    return unannounced >= threshold || (unannounced > 0 && announced == arrived);
  }
}
