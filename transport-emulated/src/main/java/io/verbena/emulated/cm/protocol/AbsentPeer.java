// SPDX-License-Identifier: Apache-2.0
package io.verbena.emulated.cm.protocol;

import io.verbena.emulated.wire.UnreachableReports;
import io.verbena.verbs.Gid;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether a peer is absent, so that sending again is useless. A host without an HCA reports
 * packets as unreachable. A report may be late or forged, so a peer counts as absent only after
 * reports for two repeated messages; this also leaves time for an HCA that is just opening. A peer
 * that answers at once is never watched.
 */
final class AbsentPeer {
  private static final int REFUSED_MESSAGES = 2;

  private @Nullable UnreachableReports unreachableReports;
  private int counted;
  private int refused;

  /**
   * Returns whether the peer is certainly absent. Called before each repeated message; the first
   * call starts watching.
   */
  boolean isCertain(CmPort port, Gid peer) {
    UnreachableReports heard = unreachableReports;
    if (heard == null) {
      heard = port.unreachableReports(peer);
      unreachableReports = heard;
      counted = heard == null ? 0 : heard.count();
      return false;
    }
    int count = heard.count();
    if (count != counted) {
      counted = count;
      refused++;
    }
    return refused == REFUSED_MESSAGES;
  }

  /** Stops watching. Idempotent. */
  void forget() {
    if (unreachableReports != null) {
      unreachableReports.close();
      unreachableReports = null;
    }
  }
}
