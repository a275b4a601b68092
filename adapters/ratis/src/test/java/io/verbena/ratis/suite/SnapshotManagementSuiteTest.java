// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.statemachine.SnapshotManagementTest;

class SnapshotManagementSuiteTest extends SnapshotManagementTest<RatisCluster>
    implements RatisCluster.FactoryGet {}
