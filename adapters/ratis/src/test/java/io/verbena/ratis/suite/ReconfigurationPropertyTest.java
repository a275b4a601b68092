// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.TestReConfigProperty;

class ReconfigurationPropertyTest extends TestReConfigProperty<RatisCluster>
    implements RatisCluster.FactoryGet {}
