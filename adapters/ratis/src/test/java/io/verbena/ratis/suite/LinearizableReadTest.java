// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.LinearizableReadTests;
import org.apache.ratis.server.RaftServerConfigKeys.Read.ReadIndex;

class LinearizableReadTest extends LinearizableReadTests<RatisCluster>
    implements RatisCluster.FactoryGet {
  @Override
  public boolean isLeaderLeaseEnabled() {
    return false;
  }

  @Override
  public ReadIndex.Type readIndexType() {
    return ReadIndex.Type.COMMIT_INDEX;
  }
}
