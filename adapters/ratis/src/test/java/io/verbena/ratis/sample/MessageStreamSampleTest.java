// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.sample;

import io.verbena.ratis.RatisCluster;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.MessageStreamApiTests;
import org.apache.ratis.conf.RaftProperties;
import org.apache.ratis.server.RaftServerConfigKeys;
import org.apache.ratis.util.TimeDuration;
import org.junit.jupiter.api.Tag;

/**
 * A stream is lost with its leader, and by Ratis's defaults a leader whose heartbeats are 150 ms
 * late, as on a machine that is busy with other tests, is none any more: here it may be 1 s late.
 */
@Tag("once")
class MessageStreamSampleTest extends MessageStreamApiTests<RatisCluster>
    implements RatisCluster.FactoryGet {
  MessageStreamSampleTest() {
    RaftProperties properties = getProperties();
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMin(properties, millis(150));
    RaftServerConfigKeys.Rpc.setFirstElectionTimeoutMax(properties, millis(300));
    RaftServerConfigKeys.Rpc.setTimeoutMin(properties, millis(1000));
    RaftServerConfigKeys.Rpc.setTimeoutMax(properties, millis(2000));
  }

  private static TimeDuration millis(int count) {
    return TimeDuration.valueOf(count, TimeUnit.MILLISECONDS);
  }
}
