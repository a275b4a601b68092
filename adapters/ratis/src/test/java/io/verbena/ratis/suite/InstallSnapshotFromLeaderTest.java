// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.InstallSnapshotFromLeaderTests;
import org.junit.jupiter.api.Test;

class InstallSnapshotFromLeaderTest extends InstallSnapshotFromLeaderTests<RatisCluster>
    implements RatisCluster.FactoryGet {
  @Override
  @Test
  public void testMultiFileInstallSnapshot() throws Exception {
    super.testMultiFileInstallSnapshot();
  }

  @Override
  @Test
  public void testSeparateSnapshotInstallPath() throws Exception {
    super.testSeparateSnapshotInstallPath();
  }

  @Override
  @Test
  public void testInstallSnapshotLeaderSwitch() throws Exception {
    super.testInstallSnapshotLeaderSwitch();
  }
}
