// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.verbena;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.benchmarks.work.ByteBufView;
import io.verbena.benchmarks.work.Ping;
import java.util.concurrent.CompletableFuture;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;

/** The end of a connection that begins round trips, one at a time. */
final class ReactivePings {
  private final RdmaConnection client;
  private final MessageBuffers pings;
  private final ByteBufView received = new ByteBufView();
  private final MessageBuffers.Writer write = this::write;
  private Ping ping;
  private long left;

  ReactivePings(RdmaConnection client, int size) {
    this.client = client;
    ping = new Ping(size);
    pings = new MessageBuffers(size, client.memory().allocator());
  }

  /** Performs round trips. Must not be called before those of the last call have ended. */
  CompletableFuture<Void> exchange(long rounds, Ping by) {
    ping = by;
    left = rounds;
    return client
        .send(
            Flux.concat(
                Mono.fromSupplier(() -> pings.write(write)),
                client.receive().take(rounds).handle(this::accept)))
        .toFuture();
  }

  private void accept(ByteBuf message, SynchronousSink<ByteBuf> sink) {
    try {
      ping.receive(received.wrap(message), message.readableBytes());
    } finally {
      message.release();
    }
    if (--left > 0) {
      sink.next(pings.write(write));
    }
  }

  private void write(ByteBufView message) {
    ping.send(message);
  }

  void release() {
    pings.release();
  }
}
