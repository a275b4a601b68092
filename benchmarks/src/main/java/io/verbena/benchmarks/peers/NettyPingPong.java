// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.peers;

import io.netty.channel.Channel;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import java.util.concurrent.CompletableFuture;

/** Round trips over a Netty connection, with a new pooled buffer for each message. */
public final class NettyPingPong implements PingPong {
  private final Server server;
  private final Client client;
  private final NettyPair pair;

  public NettyPingPong(NettyKind kind, int size) throws Exception {
    this.server = new Server(size);
    this.client = new Client(size);
    this.pair = new NettyPair(kind, size, client, server);
  }

  NettyPair pair() {
    return pair;
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    CompletableFuture<Void> done = new CompletableFuture<>();
    Channel atServer = pair.server();
    Channel atClient = pair.client();
    deadline.await(
        CompletableFuture.runAsync(() -> server.begin(pong, done), atServer.eventLoop()));
    deadline.await(
        CompletableFuture.runAsync(
            () -> client.begin(atClient, rounds, ping, done), atClient.eventLoop()));
    deadline.await(done);
  }

  @Override
  public void close() {
    pair.close();
    client.release();
    server.release();
  }

  /** The end that begins each round trip. */
  static final class Client extends NettyEnd {
    private Ping ping;
    private long left;

    Client(int size) {
      super(size);
      ping = new Ping(size);
    }

    void begin(Channel channel, long rounds, Ping ping, CompletableFuture<Void> done) {
      begin(done);
      this.ping = ping;
      this.left = rounds;
      send(channel);
    }

    @Override
    void accept(Channel channel, ByteBufView message, int length) {
      ping.receive(message, length);
      if (--left == 0) {
        finish();
      } else {
        send(channel);
      }
    }

    private void send(Channel channel) {
      ping.send(outgoing);
      write(channel);
      channel.flush();
    }
  }

  /** The end that answers. */
  static final class Server extends NettyEnd {
    private Pong pong;

    Server(int size) {
      super(size);
      pong = new Pong(size);
    }

    void begin(Pong pong, CompletableFuture<Void> done) {
      begin(done);
      this.pong = pong;
    }

    @Override
    void accept(Channel channel, ByteBufView message, int length) {
      pong.receive(message, length);
      pong.send(outgoing);
      write(channel);
      channel.flush();
    }
  }
}
