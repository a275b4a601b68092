// SPDX-License-Identifier: Apache-2.0
package io.verbena.it.guest;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A throwable as text and stack trace: its own class may not be serializable. */
record ThrownInGuest(
    String text,
    boolean assertion,
    List<StackTraceElement> trace,
    @Nullable ThrownInGuest cause,
    List<ThrownInGuest> suppressed)
    implements Serializable {
  private static final long serialVersionUID = 1;

  /** A cycle of causes is cut there. */
  private static final int MAX_DEPTH = 20;

  static ThrownInGuest of(Throwable thrown) {
    return of(thrown, 0);
  }

  private static ThrownInGuest of(Throwable thrown, int depth) {
    var suppressed = new ArrayList<ThrownInGuest>();
    ThrownInGuest cause = null;
    if (depth < MAX_DEPTH) {
      for (Throwable each : thrown.getSuppressed()) {
        suppressed.add(of(each, depth + 1));
      }
      cause = thrown.getCause() == null ? null : of(thrown.getCause(), depth + 1);
    }
    return new ThrownInGuest(
        thrown.toString(),
        thrown instanceof AssertionError,
        List.of(thrown.getStackTrace()),
        cause,
        suppressed);
  }

  /**
   * A throwable to report on the host: an AssertionError if it was one, so that failures stay apart
   * from errors.
   */
  Throwable toThrowable() {
    Throwable thrown = assertion ? new GuestFailure(text) : new GuestException(text);
    thrown.setStackTrace(trace.toArray(StackTraceElement[]::new));
    if (cause != null) {
      thrown.initCause(cause.toThrowable());
    }
    for (ThrownInGuest each : suppressed) {
      thrown.addSuppressed(each.toThrowable());
    }
    return thrown;
  }
}
