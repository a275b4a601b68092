// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.sample;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.statemachine.RaftSnapshotBaseTest;
import org.junit.jupiter.api.Tag;

@Tag("once")
class SnapshotSampleTest extends RaftSnapshotBaseTest<RatisCluster>
    implements RatisCluster.FactoryGet {}
