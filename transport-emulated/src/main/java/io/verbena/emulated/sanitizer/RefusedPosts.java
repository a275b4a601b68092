// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import io.verbena.verbs.PostException;
import java.util.List;

/** Translates the refusal of a post, which names a token, for the program. */
final class RefusedPosts {
  private RefusedPosts() {}

  /** Returns how many requests of the chain were posted before the one that was refused. */
  static int posted(PostException refusal, List<Posted> chain) {
    for (int i = 0; i < chain.size(); i++) {
      if (chain.get(i).token == refusal.workRequestId()) {
        return i;
      }
    }
    throw new IllegalStateException(
        "work request " + refusal.workRequestId() + " was refused, but not posted", refusal);
  }

  /** Returns the same refusal with the program's id, and the device's stack trace. */
  static PostException inWordsOfTheProgram(PostException refusal, Posted request) {
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
