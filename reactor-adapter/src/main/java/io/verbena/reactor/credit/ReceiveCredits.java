// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/**
 * Credits to the peer: what it may have sent in all, and what of that it has been told. Counters
 * are totals modulo 2<sup>32</sup>, as they are on the wire.
 */
public class ReceiveCredits {
  /** How many unannounced credits are worth a frame of their own. */
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

  /** How many the peer was told of that have not arrived. */
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

  /** What arrived and was not dealt with, up to the first grant. */
  public int held(int first) {
    return first - (limit - arrived);
  }

  /** The total to announce, which from now on counts as announced. */
  public int announce() {
    announced = limit;
    return limit;
  }

  /** Whether as many are unannounced as make a frame worth while. */
  public boolean reached() {
    return limit - announced >= threshold;
  }

  /** Whether the peer should be told: enough are unannounced, or it may be out of credits. */
  public boolean due() {
    int unannounced = limit - announced;
    return unannounced >= threshold || (unannounced > 0 && announced == arrived);
  }
}
