// SPDX-License-Identifier: Apache-2.0
package io.verbena.ratis.suite;

import io.verbena.ratis.RatisCluster;
import org.apache.ratis.LogAppenderTests;

/**
 * On a busy machine Ratis's test of requests after a purge may fail, with any appender: it sets the
 * next index of a follower back while the appender is at work, and expects that neither a heartbeat
 * is due nor a snapshot is sent meanwhile.
 */
class LogAppenderTest extends LogAppenderTests<RatisCluster> implements RatisCluster.FactoryGet {}
