// SPDX-License-Identifier: Apache-2.0
/** Netty's channels over any verbs provider. */
module io.verbena.netty {
  requires transitive io.verbena;
  requires transitive io.netty.transport;
  requires io.netty.buffer;
  requires io.netty.common;
  requires io.netty.resolver;
  requires io.verbena.core;
  requires static io.netty.transport.classes.epoll;
  requires static io.netty.transport.classes.io_uring;
  requires static org.jspecify;

  exports io.verbena.netty;
}
