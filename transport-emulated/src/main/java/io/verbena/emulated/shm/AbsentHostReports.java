// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.Map;

/**
 * Counts, for each host with open {@link UnreachableReports}, the packets that found the host
 * absent. For the driver only.
 */
final class AbsentHostReports {
  private final Map<Gid, Reports> asked = new HashMap<>();

  /**
   * Returns the counter of a host, which all callers share; counting ends when every caller has
   * closed it.
   */
  UnreachableReports reports(Gid of) {
    Reports reports = asked.computeIfAbsent(of, Reports::new);
    reports.holders++;
    return reports;
  }

  /** Counts a packet that found a host absent. */
  void absent(Gid host) {
    Reports reports = asked.get(host);
    if (reports != null) {
      reports.count++;
    }
  }

  private final class Reports implements UnreachableReports {
    private final Gid of;
    private int holders;
    private int count;

    Reports(Gid of) {
      this.of = of;
    }

    @Override
    public int count() {
      return count;
    }

    @Override
    public void close() {
      if (--holders == 0) {
        asked.remove(of);
      }
    }
  }
}
