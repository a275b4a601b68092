// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** Thrown when a participant delivers other data than were sent. */
public final class DataCheckFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates an exception that names the wrong byte and its message. */
  public DataCheckFailed(String what, long message, int index, long received, long expected) {
    super(
        what
            + " of message "
            + message
            + " at "
            + index
            + ": "
            + received
            + " (expected: "
            + expected
            + ")");
  }
}
