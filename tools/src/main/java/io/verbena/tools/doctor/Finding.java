// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import java.util.List;

/**
 * The result of a check.
 *
 * @param check its name
 * @param verdict what it comes to
 * @param value what was found
 * @param advice what to do about it, a step each; empty where nothing is to be done
 */
record Finding(String check, Verdict verdict, String value, List<String> advice) {

  /** The severity of a finding. */
  enum Verdict {
    /** As it should be. */
    OK,
    /** It works, but could do better, or its state is unknown. */
    NOTE,
    /** It fails, or will. */
    WRONG,
    /** It means nothing on this device, or cannot be seen. */
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
