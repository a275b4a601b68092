// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.RetryCacheTests;

class RetryCacheTest extends RetryCacheTests<RatisCluster> implements RatisCluster.FactoryGet {}
