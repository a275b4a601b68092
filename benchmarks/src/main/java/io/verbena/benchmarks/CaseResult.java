// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks;

import org.jspecify.annotations.Nullable;

/**
 * The result of a case.
 *
 * @param benchCase the case
 * @param figures its figures, or null when it failed
 * @param failure the reason for the failure, or null
 */
record CaseResult(BenchCase<?> benchCase, @Nullable Figures figures, @Nullable String failure) {

  boolean failed() {
    return figures == null;
  }

  /** Returns whether the case should run again, because other load disturbed it. */
  boolean disturbed() {
    return figures != null && figures.disturbed();
  }

  /** See {@link Figures#disturbance}; 0 for a failure, which is kept. */
  double disturbance() {
    return figures == null ? 0 : figures.disturbance();
  }
}
