// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

/** Receives findings. */
@FunctionalInterface
public interface FindingSink {

  /**
   * Called for each occurrence, in the thread that found it and under no lock of the sanitizer;
   * several threads may call at once. A mistake in a loop is reported again and again: count
   * occurrences, do not keep them all.
   */
  void found(Finding finding);
}
