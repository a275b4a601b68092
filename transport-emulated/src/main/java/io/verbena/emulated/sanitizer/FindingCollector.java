// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Collects the findings of the whole JVM from {@link #start} to {@link #finish} or {@link #close}:
 * the first of each kind and place, at most 1000. Meanwhile nothing is printed to standard error.
 * Findings of tests that run at the same time cannot be told apart. Thread-safe.
 */
public final class FindingCollector implements AutoCloseable {
  private static final int MOST_PLACES = 1000;

  private record Key(Finding.Kind kind, StackTraceElement place) {}

  private final Map<Key, Finding> found = new LinkedHashMap<>();
  private final long youngest = TrackedObject.latest();
  private final Findings.Listening listening = Findings.listen(this::add);

  private FindingCollector() {}

  /** Returns a new collector, which collects from now on. */
  public static FindingCollector start() {
    return new FindingCollector();
  }

  private synchronized void add(Finding finding) {
    if (found.size() < MOST_PLACES) {
      found.putIfAbsent(new Key(finding.kind(), finding.place()), finding);
    }
  }

  /** Returns a copy of the findings so far, in the order in which they were found. */
  public synchronized List<Finding> found() {
    return new ArrayList<>(found.values());
  }

  /**
   * Reports a {@link Finding.Kind#NEVER_CLOSED} for each object that was created since the start
   * and is still open, and stops collecting.
   *
   * @return all findings, in the order in which they were found
   */
  public List<Finding> finish() {
    Report report = new Report();
    TrackedObject.takeOpenSince(youngest).forEach(report::add);
    report.deliver(false);
    listening.close();
    return found();
  }

  /** Stops collecting, without a check for open objects. Idempotent, also after {@link #finish}. */
  @Override
  public void close() {
    listening.close();
  }
}
