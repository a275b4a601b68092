// SPDX-License-Identifier: Apache-2.0
package io.verbena.simulation.verbs;

import io.verbena.emulated.roce.RnrTimer;
import io.verbena.simulation.scenario.Violation;

/**
 * Tracks the NAKs that a requester of a reliable connection receives, and decides whether they
 * suffice to exhaust its retries.
 */
final class AllowedRetries {
  private final ConnectionConfig plan;

  /** The time of the last successful completion. */
  long lastProgressAt;

  private int missingPsn = -1;
  private int rnrPsn = -1;
  private int rnrCount;
  private long rnrSince;

  AllowedRetries(ConnectionConfig plan) {
    this.plan = plan;
  }

  /**
   * Called when a NAK for a missing packet is sent. The responder must send it only once until that
   * packet arrives.
   */
  void sequenceErrorNak(int psn) {
    if (psn == missingPsn) {
      throw new Violation("NAK sent twice for one missing packet");
    }
    missingPsn = psn;
  }

  /** Called when an RNR NAK is sent. */
  void rnrNak(int psn, long now) {
    missingPsn = -1;
    if (rnrPsn != psn) {
      rnrPsn = psn;
      // The ACK of the previous message may be lost; in that case the requester has not reset its
      // retry count.
      if (rnrCount == 0 || lastProgressAt >= rnrSince) {
        rnrCount = 0;
        rnrSince = now;
      }
    }
    rnrCount++;
  }

  /** Called when the wire duplicates an RNR NAK, which costs another retry. */
  void rnrNakDuplicated() {
    rnrCount++;
  }

  boolean allowsRnrFailure(long now) {
    int retries = plan.rnrRetry();
    return retries < 7
        && rnrCount > retries
        && now - rnrSince >= retries * RnrTimer.nanos(plan.rnrTimer());
  }
}
