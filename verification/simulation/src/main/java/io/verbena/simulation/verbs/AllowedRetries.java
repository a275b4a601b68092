package io.verbena.simulation.verbs;

import io.verbena.emulated.roce.RnrTimer;
import io.verbena.simulation.scenario.Violation;

/** What the peer of a reliable connection was told that costs its requests retries. */
final class AllowedRetries {
  private final ConnectionConfig plan;

  /** When a request of this end last completed well. */
  long progressAt;

  private int missing = -1;
  private int rnrPsn = -1;
  private int rnrCount;
  private long rnrSince;

  AllowedRetries(ConnectionConfig plan) {
    this.plan = plan;
  }

  /** It is told that a packet is missing: once, until it has come. */
  void missing(int psn) {
    if (psn == missing) {
      throw new Violation("NAK repeated");
    }
    missing = psn;
  }

  /** It is told that there is no receive. */
  void notReady(int psn, long now) {
    missing = -1;
    if (rnrPsn != psn) {
      rnrPsn = psn;
      // The answer that told of the message before may be lost: then nothing is forgiven yet.
      if (rnrCount == 0 || progressAt >= rnrSince) {
        rnrCount = 0;
        rnrSince = now;
      }
    }
    rnrCount++;
  }

  /** The wire repeats that, which costs another retry. */
  void toldTwice() {
    rnrCount++;
  }

  boolean excuseRnrFailure(long now) {
    int retries = plan.rnrRetry();
    return retries < 7
        && rnrCount > retries
        && now - rnrSince >= retries * RnrTimer.nanos(plan.rnrTimer());
  }
}
