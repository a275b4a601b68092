package io.verbena.tools.end;

/** A tool that could not do what it was asked for; ends it with exit code 1. */
public final class ToolFailure extends Exception {
  private static final long serialVersionUID = 1L;

  /** What to do next; empty if there is nothing to say. */
  private final String advice;

  /**
   * @param message what failed, with the value and what was expected
   * @param advice what the user does next, or an empty string
   */
  public ToolFailure(String message, String advice) {
    super(message);
    this.advice = advice;
  }

  /** What the user does next, or an empty string. */
  public String advice() {
    return advice;
  }
}
