// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.netty.buffer.ByteBuf;
import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Deadline;
import io.verbena.benchmarks.work.Ping;
import io.verbena.benchmarks.work.PingPong;
import io.verbena.benchmarks.work.Pong;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;

/** {@code Flux} to and fro: each end sends what it makes of what it receives. */
public final class ReactivePingPong implements PingPong {
  private final ReactivePair pair;
  private final MessageBuffers pings;
  private final MessageBuffers pongs;
  private final ByteBufView atClient = new ByteBufView();
  private final ByteBufView atServer = new ByteBufView();
  private final MessageBuffers.Writer writePing = this::writePing;
  private final MessageBuffers.Writer writePong = this::writePong;
  private final CompletableFuture<Void> echoed;
  private Ping ping;
  private Pong pong;
  private long left;

  public ReactivePingPong(PollMode mode, int size) {
    ping = new Ping(size);
    pong = new Pong(size);
    pair = new ReactivePair(mode, mode);
    RdmaConnection client = pair.client();
    RdmaConnection server = pair.server();
    pings = new MessageBuffers(size, client.memory().allocator());
    pongs = new MessageBuffers(size, server.memory().allocator());
    echoed = server.send(server.receive().map(this::reply)).toFuture();
  }

  @Override
  public void exchange(long rounds, Ping ping, Pong pong, Deadline deadline) throws Exception {
    this.ping = ping;
    this.pong = pong;
    this.left = rounds;
    RdmaConnection client = pair.client();
    CompletableFuture<Void> done =
        client
            .send(
                Flux.concat(
                    Mono.fromSupplier(() -> pings.write(writePing)),
                    client.receive().take(rounds).handle(this::accept)))
            .toFuture();
    deadline.await(CompletableFuture.anyOf(done, echoed));
  }

  private void accept(ByteBuf message, SynchronousSink<ByteBuf> sink) {
    try {
      ping.receive(atClient.wrap(message), message.readableBytes());
    } finally {
      message.release();
    }
    if (--left > 0) {
      sink.next(pings.write(writePing));
    }
  }

  private ByteBuf reply(ByteBuf message) {
    try {
      pong.receive(atServer.wrap(message), message.readableBytes());
    } finally {
      message.release();
    }
    return pongs.write(writePong);
  }

  private void writePing(ByteBufView message) {
    ping.send(message);
  }

  private void writePong(ByteBufView message) {
    pong.send(message);
  }

  @Override
  public void close() {
    pings.release();
    pongs.release();
    pair.close();
  }
}
