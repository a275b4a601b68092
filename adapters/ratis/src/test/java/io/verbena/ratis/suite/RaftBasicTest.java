// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.RaftBasicTests;
import org.apache.ratis.server.impl.BlockRequestHandlingInjection;
import org.junit.jupiter.api.Test;

class RaftBasicTest extends RaftBasicTests<RatisCluster> implements RatisCluster.FactoryGet {
  // Ratis does so for its own RPC types: the test's blocks would last for other tests.
  @Override
  @Test
  public void testWithLoad() throws Exception {
    try {
      super.testWithLoad();
    } finally {
      BlockRequestHandlingInjection.getInstance().unblockAll();
    }
  }
}
