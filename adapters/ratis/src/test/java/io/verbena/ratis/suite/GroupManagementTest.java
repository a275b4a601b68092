// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.server.impl.GroupManagementBaseTest;
import org.apache.ratis.server.impl.MiniRaftCluster;

class GroupManagementTest extends GroupManagementBaseTest {
  @Override
  public MiniRaftCluster.Factory<? extends MiniRaftCluster> getClusterFactory() {
    return RatisCluster.FACTORY;
  }
}
