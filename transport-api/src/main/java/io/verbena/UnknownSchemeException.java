package io.verbena;

/** A URI whose scheme no provider takes. */
public final class UnknownSchemeException extends RdmaException {
  private static final long serialVersionUID = 1L;

  /**
   * @param reason what is wrong
   */
  public UnknownSchemeException(String reason) {
    super("connect or bind", null, reason);
  }
}
