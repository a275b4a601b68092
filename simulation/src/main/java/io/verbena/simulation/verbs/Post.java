package io.verbena.simulation.verbs;

import org.jspecify.annotations.Nullable;

/** A request as it was posted, and what is known of it since. */
final class Post {
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

  Post(Operation operation, boolean signaled, long postedAt) {
    this.postedAt = postedAt;
    this.operation = operation;
    this.signaled = signaled;
  }

  boolean isDone() {
    return state != State.POSTED;
  }

  @Override
  public String toString() {
    return operation + " (" + state + ")";
  }
}
