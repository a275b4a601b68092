// SPDX-License-Identifier: Apache-2.0
/**
 * The parts that transports share. Programs use its meters; the rest is for Verbena's own
 * transports.
 */
module io.verbena.core {
  requires transitive io.verbena;
  requires io.netty.buffer;
  requires io.netty.common;
  requires java.management;
  requires jdk.jfr;
  requires static micrometer.core;
  requires static org.jspecify;

  exports io.verbena.core.micrometer;
  exports io.verbena.core.cm to
      io.verbena.netty,
      io.verbena.reactor;
  exports io.verbena.core.device to
      io.verbena.netty,
      io.verbena.reactor;
  exports io.verbena.core.event to
      io.verbena.netty,
      io.verbena.reactor;
  exports io.verbena.core.loop to
      io.verbena.netty,
      io.verbena.reactor;
  exports io.verbena.core.medium to
      io.verbena.netty,
      io.verbena.reactor;
  exports io.verbena.core.memory to
      io.verbena.netty,
      io.verbena.reactor;
  exports io.verbena.core.receive to
      io.verbena.netty,
      io.verbena.reactor;
  exports io.verbena.core.stat to
      io.verbena.netty,
      io.verbena.reactor;

  provides io.verbena.verbs.provider.QueuePairListener with
      io.verbena.core.stat.OpenQueuePairs;
}
