// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Collects the findings of one call of a verb, and reports them when the call is done and no lock
 * is held. Not thread-safe.
 */
final class Report {
  private @Nullable List<Finding> findings;

  void add(Finding finding) {
    if (Findings.isIgnored(finding.kind())) {
      return;
    }
    if (findings == null) {
      findings = new ArrayList<>(2);
    }
    findings.add(finding);
  }

  /**
   * Reports all findings.
   *
   * @param throwing whether to throw the first finding
   * @throws FindingException if {@code throwing}, and there is a finding
   */
  void deliver(boolean throwing) {
    deliver(throwing, null);
  }

  /**
   * Reports all findings of a verb that has thrown.
   *
   * @param failure what the verb threw, which a thrown finding carries as suppressed; null if it
   *     threw nothing
   */
  void deliver(boolean throwing, @Nullable Throwable failure) {
    if (findings == null) {
      return;
    }
    findings.forEach(Findings::deliver);
    if (throwing) {
      FindingException thrown = new FindingException(findings.get(0));
      if (failure != null) {
        thrown.addSuppressed(failure);
      }
      throw thrown;
    }
  }
}
