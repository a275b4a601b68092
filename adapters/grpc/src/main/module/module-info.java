// SPDX-License-Identifier: Apache-2.0
/** gRPC over Netty's RDMA channels. */
module io.verbena.grpc {
  requires transitive io.grpc.netty;
  requires transitive io.verbena.netty;
  requires static org.jspecify;

  exports io.verbena.grpc;
}
