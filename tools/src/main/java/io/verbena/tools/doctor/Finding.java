// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import java.util.List;

/**
 * The result of a check.
 *
 * @param check its name
 * @param verdict its severity
 * @param value the observed state
 * @param advice the steps to correct it; empty if there is nothing to do
 */
record Finding(String check, Verdict verdict, String value, List<String> advice) {

  /** The severity of a finding. */
  enum Verdict {
    /** As it should be. */
    OK,
    /** It works, but could be better, or its state is unknown. */
    NOTE,
    /** It fails, or will fail. */
    WRONG,
    /** It does not apply to this device, or cannot be observed. */
    SKIPPED
  }

  static Finding ok(String check, String value) {
    return new Finding(check, Verdict.OK, value, List.of());
  }

  static Finding note(String check, String value, String... advice) {
    return new Finding(check, Verdict.NOTE, value, List.of(advice));
  }

  static Finding wrong(String check, String value, String... advice) {
    return new Finding(check, Verdict.WRONG, value, List.of(advice));
  }

  static Finding skipped(String check, String why) {
    return new Finding(check, Verdict.SKIPPED, why, List.of());
  }
}
