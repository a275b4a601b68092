// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.concurrent.ConcurrentHashMap;

/**
 * Prints the first finding of each kind and place to standard error, and later ones as a count, at
 * each power of two.
 */
final class ConsoleSink implements FindingSink {
  private static final int MOST_PLACES = 10_000;

  private record Key(Finding.Kind kind, StackTraceElement place) {}

  private final ConcurrentHashMap<Key, Long> counts = new ConcurrentHashMap<>();

  @Override
  public void found(Finding finding) {
    if (counts.size() >= MOST_PLACES) {
      return;
    }
    long count = counts.merge(new Key(finding.kind(), finding.place()), 1L, Long::sum);
    if (count == 1) {
      print(finding.report());
    } else if (Long.bitCount(count) == 1) {
      print("verbena sanitizer: " + finding.kind() + " at " + finding.place() + ": " + count + "x");
    }
  }

  @SuppressWarnings("SystemOut") // Users look for a sanitizer's reports on standard error.
  private static void print(String text) {
    System.err.println(text);
  }
}
