// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

/**
 * Prints the first finding of each kind and place, and later ones as a count, at each power of two.
 * The number of places is bounded.
 */
final class ConsoleSink implements FindingSink {
  static final int MOST_PLACES = 10_000;

  private record Key(Finding.Kind kind, StackTraceElement place) {}

  private final ConcurrentHashMap<Key, Long> counts = new ConcurrentHashMap<>();
  private final AtomicBoolean full = new AtomicBoolean();
  private final Consumer<String> printer;

  ConsoleSink(Consumer<String> printer) {
    this.printer = printer;
  }

  @Override
  public void found(Finding finding) {
    Key key = new Key(finding.kind(), finding.place());
    if (counts.size() >= MOST_PLACES && !counts.containsKey(key)) {
      if (full.compareAndSet(false, true)) {
        printer.accept(
            "verbena sanitizer: no further places are printed than the first " + MOST_PLACES);
      }
      return;
    }
    long count = counts.merge(key, 1L, Long::sum);
    if (count == 1) {
      printer.accept(finding.report());
    } else if (Long.bitCount(count) == 1) {
      printer.accept(
          "verbena sanitizer: " + finding.kind() + " at " + finding.place() + ": " + count + "x");
    }
  }
}
