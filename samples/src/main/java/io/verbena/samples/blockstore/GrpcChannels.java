// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** Channels to a store behind gRPC, which are closed together. Thread-safe. */
final class GrpcChannels {
  private final Queue<ManagedChannel> channels = new ConcurrentLinkedQueue<>();

  /** Opens a channel. Its calls run on the event loops, and do not block. */
  ManagedChannel open(NettyChannelBuilder builder) {
    ManagedChannel channel = builder.directExecutor().usePlaintext().build();
    channels.add(channel);
    return channel;
  }

  /**
   * Closes all channels; idempotent.
   *
   * @param limit for each channel
   */
  void close(Duration limit) {
    try {
      for (ManagedChannel channel : channels) {
        channel.shutdownNow().awaitTermination(limit.toNanos(), TimeUnit.NANOSECONDS);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
