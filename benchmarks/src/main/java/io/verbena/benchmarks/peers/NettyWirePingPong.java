// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.channel.Channel;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import java.util.concurrent.CompletableFuture;

/** Round trips over a Netty connection between two processes. */
public final class NettyWirePingPong implements PingPong {
  private final NettyPingPong.Client client;
  private final NettyWire wire;

  public NettyWirePingPong(NettyKind kind, int size) throws Exception {
    client = new NettyPingPong.Client(size);
    wire = new NettyWire(Echo.class, kind, size, size, client);
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Channel channel = wire.channel();
    deadline.await(
        CompletableFuture.runAsync(
            () -> client.begin(channel, rounds, ping, done), channel.eventLoop()));
    deadline.await(done);
  }

  @Override
  public void close() {
    wire.close();
    client.release();
  }

  /** The end in the other process. */
  static final class Echo {
    private Echo() {}

    /** Arguments: the kind of its loop, and the size of the messages. */
    public static void main(String[] arguments) throws Exception {
      int size = Integer.parseInt(arguments[1]);
      NettyWire.listen(
          arguments,
          NettyPingPong.Server::new,
          (server, failed) -> server.begin(new Pong(size), failed));
    }
  }
}
