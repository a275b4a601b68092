// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.LogAppenderTests;

/**
 * Runs Ratis's tests of log appenders. On a busy machine the test of requests after a purge may
 * fail with any appender: it resets the next index of a follower while the appender runs, and
 * expects that meanwhile no heartbeat is due and no snapshot is sent.
 */
class LogAppenderTest extends LogAppenderTests<RatisCluster> implements RatisCluster.FactoryGet {}
