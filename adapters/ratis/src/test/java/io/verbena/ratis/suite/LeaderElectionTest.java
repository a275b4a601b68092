// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.server.impl.BlockRequestHandlingInjection;
import org.apache.ratis.server.impl.LeaderElectionTests;
import org.junit.jupiter.api.Test;

class LeaderElectionTest extends LeaderElectionTests<RatisCluster>
    implements RatisCluster.FactoryGet {
  // Ratis does so for its own RPC types: the test's delays and blocks would last for other tests.
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
