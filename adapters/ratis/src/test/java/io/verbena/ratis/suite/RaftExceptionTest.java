// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.RaftExceptionBaseTest;

class RaftExceptionTest extends RaftExceptionBaseTest<RatisCluster>
    implements RatisCluster.FactoryGet {}
