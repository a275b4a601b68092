// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.statemachine.RaftSnapshotBaseTest;

class RaftSnapshotTest extends RaftSnapshotBaseTest<RatisCluster>
    implements RatisCluster.FactoryGet {}
