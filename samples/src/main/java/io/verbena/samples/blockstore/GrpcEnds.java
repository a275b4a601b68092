package io.verbena.samples.blockstore;

import io.grpc.BindableService;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import java.io.IOException;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/**
 * A running gRPC server, and the channels to it. Calls run on the event loops, which nothing here
 * blocks. Opening is thread-safe.
 */
final class GrpcEnds {
  private final Server server;
  private final Queue<ManagedChannel> channels = new ConcurrentLinkedQueue<>();

  /** Starts the server. */
  GrpcEnds(NettyServerBuilder builder, BindableService service) throws IOException {
    server = builder.directExecutor().addService(service).build().start();
  }

  int port() {
    return server.getPort();
  }

  /** A channel to the server. */
  ManagedChannel open(NettyChannelBuilder builder) {
    ManagedChannel channel = builder.directExecutor().usePlaintext().build();
    channels.add(channel);
    return channel;
  }

  /**
   * Ends the channels and the server; idempotent.
   *
   * @param limit for each
   */
  void close(Duration limit) {
    try {
      for (ManagedChannel channel : channels) {
        channel.shutdownNow().awaitTermination(limit.toNanos(), TimeUnit.NANOSECONDS);
      }
      server.shutdownNow().awaitTermination(limit.toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      server.shutdownNow();
      Thread.currentThread().interrupt();
    }
  }
}
