// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.ReadOnlyRequestTests;

class ReadOnlyRequestTest extends ReadOnlyRequestTests<RatisCluster>
    implements RatisCluster.FactoryGet {}
