// SPDX-License-Identifier: Apache-2.0
/** Spring Boot over RDMA. */
open module io.verbena.springboot {
  requires io.verbena.core;
  requires io.verbena.netty;
  requires io.verbena.reactornetty;
  requires reactor.netty.core;
  requires spring.beans;
  requires spring.boot;
  requires spring.boot.autoconfigure;
  requires spring.context;
  requires static io.grpc.netty;
  requires static io.verbena.grpc;
  requires static micrometer.core;
  requires static org.jspecify;
  requires static spring.boot.health;
  requires static spring.web;

  exports io.verbena.springboot;
}
