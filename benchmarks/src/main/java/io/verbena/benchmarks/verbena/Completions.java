// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.verbena.verbs.WorkCompletion;

/** Looks at completions before anything is made of them. */
public final class Completions {
  private Completions() {}

  /** Fails unless it succeeded. */
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
