package io.verbena.simulation.verbs;

import org.jspecify.annotations.Nullable;

/** A request as it was posted, and what is known of it since. */
final class PostedRequest {
  enum State {
    POSTED,
    DONE,
    FAILED
  }

  final Operation operation;
  final boolean signaled;
  final long postedAt;
  long doneAt;
  State state = State.POSTED;

  /** Of a READ: the bytes that it must bring. */
  byte @Nullable [] due;

  /** Of a READ or atomic: where in the arena its answer lands. */
  int resultAt;

  /** Of one that takes a receive: how many of its end did before. */
  int message;

  /** Of a fetch-and-add: its place among those of its counter. */
  int digit;

  /** Of a compare-and-swap: what it must find, and what is there after it. */
  long before;

  long after;

  /** Of an access by a key of its own: that key. Of what gives or ends a key: that. */
  @Nullable KeyLifetime life;

  /** Of what gives a window another key: the one that ends with that. */
  @Nullable KeyLifetime lifeBefore;

  /** Of an unreliable one: the PSN of its last packet. */
  int lastPsn = -1;

  /** How often it was received. */
  int deliveries;

  PostedRequest(Operation operation, boolean signaled, long postedAt) {
    this.postedAt = postedAt;
    this.operation = operation;
    this.signaled = signaled;
  }

  boolean isDone() {
    return state != State.POSTED;
  }

  /** Whether the responder refuses it, or may, for all that is known. */
  boolean mayBeRefused() {
    if (operation.kind().kills()) {
      return true;
    }
    KeyLifetime by = life;
    return by != null && operation.kind().isAccess() && state != State.DONE && by.isEnding();
  }

  @Override
  public String toString() {
    KeyLifetime by = life;
    return operation + (by == null ? "" : ", key " + by) + " (" + state + ")";
  }
}
