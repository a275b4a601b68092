package io.verbena.simulation.scenario;

/** A promise was broken. */
public final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** A promise that was broken. */
  public Violation(String message) {
    super(message);
  }

  /**
   * A promise that was broken.
   *
   * @param cause what was thrown that shows it
   */
  public Violation(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Makes a claim.
   *
   * @param otherwise what is wrong if it does not hold, followed by {@code about}
   */
  public static void require(boolean held, String otherwise, Object about) {
    if (!held) {
      throw new Violation(otherwise + " " + about);
    }
  }
}
