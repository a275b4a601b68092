// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.RaftLogTruncateTests;

class RaftLogTruncateTest extends RaftLogTruncateTests<RatisCluster>
    implements RatisCluster.FactoryGet {}
