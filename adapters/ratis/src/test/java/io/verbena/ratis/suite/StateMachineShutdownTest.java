// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.server.impl.StateMachineShutdownTests;

class StateMachineShutdownTest extends StateMachineShutdownTests<RatisCluster>
    implements RatisCluster.FactoryGet {}
