// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.credit;

/**
 * Credits for the peer: the total that it may send, and the part of that total that was announced
 * to it. Counters are totals modulo 2<sup>32</sup>, as on the wire.
 */
public class ReceiveCredits {
  /** The number of unannounced credits that is worth a frame of its own. */
  int threshold;

  private int limit;
  private int announced;
  private int arrived;

  /**
   * @param first the first grant, announced in the handshake
   * @param threshold how many unannounced credits are worth a frame of their own
   */
  public ReceiveCredits(int first, int threshold) {
    this.threshold = threshold;
    limit = first;
    announced = first;
  }

  /** Counts an arrival; returns false if the peer had no credit for it. */
  public boolean arrive() {
    arrived++;
    return announced - arrived >= 0;
  }

  /** Counts {@code count} credits as used, without arrivals. */
  final void arrive(int count) {
    arrived += count;
  }

  /** Grants {@code count} more. */
  final void add(int count) {
    limit += count;
  }

  /** Returns the number of credits that were announced and not used by arrivals. */
  final int onTheirWay() {
    return announced - arrived;
  }

  /** Grants one more for an arrival that was dealt with. */
  public void free() {
    limit++;
  }

  /** Returns the total of arrivals. */
  public int arrived() {
    return arrived;
  }

  /** Returns the number of arrivals that were not dealt with, up to the first grant. */
  public int held(int first) {
    return first - (limit - arrived);
  }

  /** Returns the total to announce, and counts it as announced. */
  public int announce() {
    announced = limit;
    return limit;
  }

  /** Returns whether enough credits are unannounced to make a frame worthwhile. */
  public boolean reached() {
    return limit - announced >= threshold;
  }

  /**
   * Returns whether credits should be announced to the peer: enough are unannounced, or the peer
   * may be out of credits.
   */
  public boolean due() {
    int unannounced = limit - announced;
    return unannounced >= threshold || (unannounced > 0 && announced == arrived);
  }
}
