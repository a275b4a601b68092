// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.shm;

import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.verbs.Gid;
import java.util.HashMap;
import java.util.Map;

/** Counts, for those who ask, how often a host was not there to be sent to. For the driver only. */
final class AbsentHosts {
  private final Map<Gid, Reports> asked = new HashMap<>();

  /** Counts from now on for one more who asks; until all have closed theirs. */
  UnreachableReports reports(Gid of) {
    Reports reports = asked.computeIfAbsent(of, Reports::new);
    reports.holders++;
    return reports;
  }

  /** A packet found the host absent. */
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
