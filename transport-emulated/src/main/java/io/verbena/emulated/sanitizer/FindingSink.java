// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

/** Receives the findings of this JVM. */
@FunctionalInterface
public interface FindingSink {

  /**
   * Handles one occurrence of a finding. Called on the thread that found it, which holds no lock of
   * the sanitizer; several threads may call at the same time. A mistake in a loop is reported on
   * each pass: count occurrences rather than keep them all. What this method throws is logged; the
   * verb and the other sinks continue.
   */
  void found(Finding finding);
}
