// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.sample;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.MessageStreamApiTests;
import org.junit.jupiter.api.Tag;

/** A stream is lost with its leader; here a leader's heartbeats may be 1 s late. */
@Tag("once")
class MessageStreamSampleTest extends MessageStreamApiTests<RatisCluster>
    implements RatisCluster.FactoryGet {
  MessageStreamSampleTest() {
    Elections.setTimeout(getProperties(), 1000, 2000);
  }
}
