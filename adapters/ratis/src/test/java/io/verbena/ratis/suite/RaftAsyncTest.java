// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.RaftAsyncTests;

class RaftAsyncTest extends RaftAsyncTests<RatisCluster> implements RatisCluster.FactoryGet {}
