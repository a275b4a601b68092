// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.report;

import java.util.ArrayList;
import java.util.List;

/** Collects the checks of a program. Confined to one thread. */
public final class Checks {
  private final List<String> failed = new ArrayList<>();
  private int count;

  /** Records whether {@code what} is true. */
  public void check(String what, boolean isTrue) {
    count++;
    if (!isTrue) {
      failed.add(what);
    }
  }

  /** Records whether a value is the expected one. */
  public void checkEqual(String what, Object expected, Object actual) {
    check(what + ": " + actual + " (expected: " + expected + ")", expected.equals(actual));
  }

  /** The number of checks. */
  public int count() {
    return count;
  }

  /** The checks that failed, with their values. */
  public List<String> failed() {
    return failed;
  }
}
