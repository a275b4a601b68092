package io.verbena.reactor.connection;

/**
 * Credits to the peer: what it may have sent in all, and what of that it has been told. Counters
 * are totals modulo 2<sup>32</sup>, as they are on the wire.
 */
final class Grant {
  private final int threshold;
  private int limit;
  private int announced;
  private int arrived;

  /**
   * @param first the first grant, told in the handshake
   * @param threshold how many unannounced credits are worth a frame of their own
   */
  Grant(int first, int threshold) {
    this.threshold = threshold;
    limit = first;
    announced = first;
  }

  /** Counts one that arrived; answers false if the peer had no credit for it. */
  boolean arrive() {
    arrived++;
    return announced - arrived >= 0;
  }

  /** Counts one that was dealt with: the peer may send another. */
  void free() {
    limit++;
  }

  /** The total of what arrived. */
  int arrived() {
    return arrived;
  }

  /** What arrived and was not dealt with, up to the first grant. */
  int held(int first) {
    return first - (limit - arrived);
  }

  /** The total to announce, which from now on counts as announced. */
  int announce() {
    announced = limit;
    return limit;
  }

  /** Whether as many are unannounced as make a frame worth while. */
  boolean reached() {
    return limit - announced >= threshold;
  }

  /** Whether the peer should be told: enough are unannounced, or it may be out of credits. */
  boolean due() {
    int unannounced = limit - announced;
    return unannounced >= threshold || (unannounced > 0 && announced == arrived);
  }
}
