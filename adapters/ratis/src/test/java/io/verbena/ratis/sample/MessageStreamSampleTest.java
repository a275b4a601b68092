// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.sample;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.MessageStreamApiTests;
import org.junit.jupiter.api.Tag;

@Tag("once")
class MessageStreamSampleTest extends MessageStreamApiTests<RatisCluster>
    implements RatisCluster.FactoryGet {}
