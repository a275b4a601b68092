// SPDX-License-Identifier: Apache-2.0
/** Vert.x over Netty's RDMA channels. */
module io.verbena.vertx {
  requires transitive io.verbena.netty;
  requires transitive io.vertx.core;
  requires io.netty.buffer;
  requires io.netty.common;
  requires io.netty.transport;
  requires static org.jspecify;

  exports io.verbena.vertx;
}
