// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Collects the findings from its start to its end, one for each kind and place. While it does,
 * nothing is printed. It collects those of the whole JVM: it cannot tell apart code that runs at
 * the same time.
 */
public final class FindingCollector implements AutoCloseable {
  private static final int MOST_PLACES = 1000;

  private record Key(Finding.Kind kind, StackTraceElement place) {}

  private final Map<Key, Finding> found = new LinkedHashMap<>();
  private final long youngest = Birth.latest();
  private final Findings.Listening listening = Findings.listen(this::add);

  private FindingCollector() {}

  /** Starts to collect. */
  public static FindingCollector start() {
    return new FindingCollector();
  }

  private synchronized void add(Finding finding) {
    if (found.size() < MOST_PLACES) {
      found.putIfAbsent(new Key(finding.kind(), finding.place()), finding);
    }
  }

  /** Returns the findings so far, in order. */
  public synchronized List<Finding> found() {
    return new ArrayList<>(found.values());
  }

  /**
   * Ends, and reports all objects that were created since the start and are still open as {@link
   * Finding.Kind#NEVER_CLOSED}.
   *
   * @return the findings, in order
   */
  public List<Finding> finish() {
    Report report = new Report();
    Birth.takeOpenSince(youngest).forEach(report::add);
    report.tell(false);
    listening.close();
    return found();
  }

  /** Ends. Does nothing when it is closed twice, or after {@link #finish}. */
  @Override
  public void close() {
    listening.close();
  }
}
