// SPDX-License-Identifier: Apache-2.0
/** Reactor Netty over Netty's RDMA channels. */
module io.verbena.reactornetty {
  requires transitive io.verbena.netty;
  requires transitive reactor.netty.core;
  requires io.netty.common;
  requires static org.jspecify;

  exports io.verbena.reactornetty;
}
