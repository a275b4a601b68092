package io.verbena.samples.blockstore;

import java.util.ArrayList;
import java.util.List;

/** What the demo has found true, and what not. */
final class Checks {
  private final List<String> failed = new ArrayList<>();
  private int count;

  /** Notes whether {@code what} is true. */
  void check(String what, boolean isTrue) {
    count++;
    if (!isTrue) {
      failed.add(what);
    }
  }

  /** Notes whether a value is the expected one. */
  void checkEqual(String what, Object expected, Object actual) {
    check(what + ": " + actual + " (expected: " + expected + ")", expected.equals(actual));
  }

  int count() {
    return count;
  }

  /** What was not true, with values where there are any. */
  List<String> failed() {
    return failed;
  }
}
