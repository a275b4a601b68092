// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.sanitizer;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The findings of one verb, told when it is done and no lock is held. Not thread-safe. */
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
   * Tells all that was found.
   *
   * @param throwing whether to throw the first
   * @throws FindingException if so
   */
  void tell(boolean throwing) {
    if (findings == null) {
      return;
    }
    findings.forEach(Findings::tell);
    if (throwing) {
      throw new FindingException(findings.get(0));
    }
  }
}
