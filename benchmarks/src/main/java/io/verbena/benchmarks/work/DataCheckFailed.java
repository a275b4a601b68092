package io.verbena.benchmarks.work;

/** A participant delivered something else than was sent. */
public final class DataCheckFailed extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What, in which message and where, was not as it was sent. */
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
