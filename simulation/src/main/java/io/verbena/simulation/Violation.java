package io.verbena.simulation;

/** A promise was broken. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1;

  Violation(String message) {
    super(message);
  }
}
