// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Keeps what is found from its start to its end, one finding for each kind and place. While it does
 * nothing is printed. It hears of the whole JVM: what runs at the same time is not told apart.
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

  /** What was found so far, in order. */
  public synchronized List<Finding> found() {
    return new ArrayList<>(found.values());
  }

  /**
   * Ends, and counts all that was created since the start and is still open as {@link
   * Finding.Kind#NEVER_CLOSED}.
   *
   * @return what was found, in order
   */
  public List<Finding> finish() {
    Report report = new Report();
    Birth.takeOpenSince(youngest).forEach(report::add);
    report.tell(false);
    listening.close();
    return found();
  }

  /** Ends. Closing it twice, or after {@link #finish}, does nothing. */
  @Override
  public void close() {
    listening.close();
  }
}
