// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.verbs.WorkCompletion;

/** Checks of completions. */
public final class Completions {
  private Completions() {}

  /** Throws unless a completion is successful. */
  public static void check(WorkCompletion completion) {
    if (!completion.isSuccess()) {
      throw new IllegalStateException("completion: " + completion + " (expected: SUCCESS)");
    }
  }

  static void check(WorkCompletion completion, long id) {
    check(completion);
    if (completion.workRequestId() != id) {
      throw new IllegalStateException("completion: " + completion + " (expected: of " + id + ")");
    }
  }
}
