// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.server.impl.LogMetadataTests;

class LogMetadataTest extends LogMetadataTests<RatisCluster> implements RatisCluster.FactoryGet {}
