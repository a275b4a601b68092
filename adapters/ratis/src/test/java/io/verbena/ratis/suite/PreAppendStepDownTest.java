// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.server.impl.PreAppendLeaderStepDownTest;

class PreAppendStepDownTest extends PreAppendLeaderStepDownTest<RatisCluster>
    implements RatisCluster.FactoryGet {}
