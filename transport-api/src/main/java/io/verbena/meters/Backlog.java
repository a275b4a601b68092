package io.verbena.meters;

/** A connection's queue in front of its transport. Read by any thread. */
public interface Backlog {

  /** The bytes that it holds. */
  long bytes();

  /** The most bytes that it may hold. */
  long limit();
}
