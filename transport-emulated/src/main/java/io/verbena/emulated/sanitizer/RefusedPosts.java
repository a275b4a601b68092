// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.PostException;
import java.util.List;

/**
 * Translates the exception of a refused post: replaces the token of the sanitizer by the program's
 * id.
 */
final class RefusedPosts {
  private RefusedPosts() {}

  /** Returns the number of requests of the chain that were posted before the refused one. */
  static int posted(PostException refusal, List<Posted> chain) {
    for (int i = 0; i < chain.size(); i++) {
      if (chain.get(i).token == refusal.workRequestId()) {
        return i;
      }
    }
    throw new IllegalStateException(
        "work request " + refusal.workRequestId() + " was refused, but not posted", refusal);
  }

  /** Returns an equal exception with the program's id and the device's stack trace. */
  static PostException withProgramId(PostException refusal, Posted request) {
    String message = String.valueOf(refusal.getMessage());
    String prefix = "work request " + request.token + ": ";
    String suffix = " [" + refusal.error().errno() + "]";
    int from = message.startsWith(prefix) ? prefix.length() : 0;
    int to = message.length() - (message.endsWith(suffix) ? suffix.length() : 0);
    PostException translated =
        new PostException(refusal.error(), request.id, message.substring(from, to));
    translated.setStackTrace(refusal.getStackTrace());
    return translated;
  }
}
