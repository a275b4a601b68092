package io.verbena.samples.grpc;

import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;

/** What carries the calls: where the twins differ. */
interface Transport extends AutoCloseable {

  /** What the results call it. */
  String name();

  /** A server on a free port. */
  NettyServerBuilder server();

  /** A client of such a server. */
  NettyChannelBuilder client(int port);

  /** Ends what server and client ran on, behind them. */
  @Override
  void close();
}
