// SPDX-License-Identifier: Apache-2.0
package io.verbena.verbs;

import static java.util.Objects.requireNonNull;

/**
 * A verb failed at once, before any work began. A later failure is a {@link WorkCompletion} with a
 * {@link CompletionStatus}, never an exception.
 */
public class VerbsException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** The kind of failure. */
  private final VerbsError error;

  /**
   * @param error the kind of failure
   * @param message the verb, the value it was given and the limit it broke
   */
  public VerbsException(VerbsError error, String message) {
    this(error, message, null);
  }

  /**
   * @param error the kind of failure
   * @param message the verb, the value it was given and the limit it broke
   * @param cause the platform's error, or null
   */
  public VerbsException(
      VerbsError error, String message, @org.jspecify.annotations.Nullable Throwable cause) {
    super(message + " [" + requireNonNull(error, "error").errno() + "]", cause);
    this.error = error;
  }

  /** Returns the kind of failure. */
  public VerbsError error() {
    return error;
  }
}
