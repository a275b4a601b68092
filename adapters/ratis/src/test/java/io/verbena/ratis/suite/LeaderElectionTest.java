// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.server.impl.BlockRequestHandlingInjection;
import org.apache.ratis.server.impl.LeaderElectionTests;
import org.junit.jupiter.api.Test;

class LeaderElectionTest extends LeaderElectionTests<RatisCluster>
    implements RatisCluster.FactoryGet {
  // As Ratis does for its own RPC types: what this test delays and blocks would stay for others.
  @Override
  @Test
  public void testEnforceLeader() throws Exception {
    try {
      super.testEnforceLeader();
    } finally {
      RatisCluster.undelay();
      BlockRequestHandlingInjection.getInstance().unblockAll();
    }
  }

  @Override
  @Test
  public void testDisconnectLeader() throws Exception {
    super.testDisconnectLeader();
  }
}
