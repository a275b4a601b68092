// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.sample;

import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;

/**
 * Settings for elections on a machine that is busy with other tests: by Ratis's defaults a leader
 * whose heartbeats are 150 ms late is none any more.
 */
final class Elections {
  private Elections() {}

  /**
   * Sets how late a leader may be. The first leader is elected as soon as by the defaults.
   *
   * @param properties those of all suites in this JVM
   * @param least milliseconds
   * @param most milliseconds; Ratis's suites sleep by it where they wait for a leader
   */
  static void setTimeout(RaftProperties properties, int least, int most) {
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, millis(150));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, millis(300));
    RaftServerConfigKeys.Rpc.setTimeoutMin(properties, millis(least));
    RaftServerConfigKeys.Rpc.setTimeoutMax(properties, millis(most));
  }

  private static TimeDuration millis(int count) {
    return TimeDuration.valueOf(count, TimeUnit.MILLISECONDS);
  }
}
