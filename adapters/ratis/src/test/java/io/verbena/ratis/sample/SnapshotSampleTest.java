// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.sample;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.statemachine.RaftSnapshotBaseTest;
import org.junit.jupiter.api.Tag;

/** Reads meters of the leader, which must not change; here its heartbeats may be 500 ms late. */
@Tag("once")
class SnapshotSampleTest extends RaftSnapshotBaseTest<RatisCluster>
    implements RatisCluster.FactoryGet {
  SnapshotSampleTest() {
    Elections.setTimeout(getProperties(), 500, 650);
  }
}
