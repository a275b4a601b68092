// SPDX-License-Identifier: Apache-2.0
package io.verbena.tools.doctor;

import java.util.List;

/**
 * What a check found.
 *
 * @param check its name
 * @param verdict what it comes to
 * @param value what was found
 * @param advice what to do about it, a step each; empty where nothing is to be done
 */
record Finding(String check, Verdict verdict, String value, List<String> advice) {

  /** How bad it is. */
  enum Verdict {
    /** As it should be. */
    OK,
    /** It works, and could do better, or nobody can tell. */
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
