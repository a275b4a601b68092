// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.scenario;

/** Thrown when a run violates its model. */
public final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** Creates a violation. */
  public Violation(String message) {
    super(message);
  }

  /**
   * Creates a violation that another exception revealed.
   *
   * @param cause the exception that revealed the violation
   */
  public Violation(String message, Throwable cause) {
    super(message, cause);
  }

  /**
   * Throws a violation unless a condition holds.
   *
   * @param message the message, followed by {@code subject}
   */
  public static void require(boolean condition, String message, Object subject) {
    if (!condition) {
      throw new Violation(message + " " + subject);
    }
  }
}
