// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.work;

/** A participant delivered something else than was sent. */
public final class DataCheckFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates one that says which byte of which message was wrong. */
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
