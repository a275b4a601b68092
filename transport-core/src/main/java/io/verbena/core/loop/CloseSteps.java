// SPDX-License-Identifier: Apache-2.0
package io.verbena.core.loop;

import io.verbena.verbs.VerbsError;
import io.verbena.verbs.VerbsException;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Closes objects in order, each successfully once. A close that fails keeps no other object open,
 * and is tried again. Thread-safe.
 */
public final class CloseSteps {
  private record Step(String name, Runnable close) {}

  private final List<Step> left = new ArrayList<>();

  /** Without steps yet. */
  public CloseSteps() {}

  /**
   * Adds an object, to be closed after those added before.
   *
   * @param name the name of the object, for errors
   */
  public synchronized CloseSteps add(String name, Runnable close) {
    left.add(new Step(name, close));
    return this;
  }

  /**
   * Closes all objects that are still open. A close that fails is tried once more after all others,
   * because another object may have used this one, and again by each further call.
   *
   * @throws VerbsException naming the objects that are still open; its cause is the first exception
   */
  public synchronized void run() {
    if (tryAll() == null) {
      return;
    }
    Throwable first = tryAll();
    if (first != null) {
      throw new VerbsException(
          first instanceof VerbsException why ? why.error() : VerbsError.IO,
          "close: left open: " + names() + " (expected: nothing); try again. " + first.getMessage(),
          first);
    }
  }

  private @Nullable Throwable tryAll() {
    Throwable first = null;
    for (Iterator<Step> each = left.iterator(); each.hasNext(); ) {
      try {
        each.next().close.run();
        each.remove();
      } catch (Throwable e) {
        if (first == null) {
          first = e;
        } else if (first != e) {
          first.addSuppressed(e);
        }
      }
    }
    return first;
  }

  private String names() {
    return String.join(", ", left.stream().map(Step::name).toList());
  }
}
