// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.RequestLimitAsyncBaseTest;

class RequestLimitAsyncTest extends RequestLimitAsyncBaseTest<RatisCluster>
    implements RatisCluster.FactoryGet {}
