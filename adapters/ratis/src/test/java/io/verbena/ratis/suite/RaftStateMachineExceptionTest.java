// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.server.impl.RaftStateMachineExceptionTests;

class RaftStateMachineExceptionTest extends RaftStateMachineExceptionTests<RatisCluster>
    implements RatisCluster.FactoryGet {}
