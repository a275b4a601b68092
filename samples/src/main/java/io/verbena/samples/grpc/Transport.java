// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.net.InetSocketAddress;

/** Carries the calls: the only part that differs between TCP and RDMA. */
interface Transport extends AutoCloseable {

  /** A server that listens at an address. */
  NettyServerBuilder server(InetSocketAddress at);

  /** A client of the server at an address. */
  NettyChannelBuilder client(InetSocketAddress at);

  /** Ends the event loops, after the server or the client that ran on them. */
  @Override
  void close();
}
