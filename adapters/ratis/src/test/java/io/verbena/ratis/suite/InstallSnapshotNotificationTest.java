// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.InstallSnapshotNotificationTests;

class InstallSnapshotNotificationTest extends InstallSnapshotNotificationTests<RatisCluster>
    implements RatisCluster.FactoryGet {}
