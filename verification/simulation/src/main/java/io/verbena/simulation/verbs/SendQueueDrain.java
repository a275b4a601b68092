package io.verbena.simulation.verbs;

/** A send queue that its program has drained, from then until it lets it go on. */
final class SendQueueDrain {
  /** Nanoseconds between two trials to go on. */
  static final long LEAST_PAUSE = 1 << 14;

  /** The first request that must wait until then. */
  private final int first;

  /** Whether the program has asked to be told when all that has begun is done. */
  final boolean isTold;

  /** Nanoseconds that the program takes its time for. */
  final long pause;

  /** Whether it was told. */
  boolean isOver;

  SendQueueDrain(int first, boolean isTold, long pause) {
    this.first = first;
    this.isTold = isTold;
    this.pause = pause;
  }

  /** Whether a request may be done now: one that may have begun before, and no more was told. */
  boolean lets(int number) {
    return number < first && !isOver;
  }

  @Override
  public String toString() {
    return "from request " + first + (isTold ? " on, to be told" : " on") + ", " + pause + " ns";
  }
}
