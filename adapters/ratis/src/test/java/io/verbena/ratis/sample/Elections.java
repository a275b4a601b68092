// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.sample;

import java.util.concurrent.TimeUnit;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;

/**
 * Settings for elections on a machine that is busy with other tests: by Ratis's defaults a leader
 * loses its place when its heartbeats are 150 ms late.
 */
final class Elections {
  private Elections() {}

  /**
   * Sets how late a leader's heartbeats may be. The first election has the default timeouts.
   *
   * @param properties the properties of all suites in this JVM
   * @param least the minimum in milliseconds
   * @param most the maximum in milliseconds; Ratis's suites sleep for this time when they wait for
   *     a leader
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
