// SPDX-License-Identifier: Apache-2.0
package io.verbena.benchmarks.cost;

import io.netty.buffer.ByteBuf;
import io.verbena.PollMode;
import io.verbena.RdmaConnection;
import io.verbena.RdmaTransport;
import io.verbena.RemoteMemory;
import java.nio.ByteBuffer;
import java.util.EnumSet;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.SynchronousSink;

/** The active end at the reactive layer: streams of messages, a {@code Mono} for each write. */
final class ReactiveActive implements ActiveEnd {
  private final RdmaTransport transport;
  private final RdmaConnection connection;
  private final ByteBuffer given;
  private final ByteBuf block;
  private final RemoteMemory target;
  private RoundTrips times = new RoundTrips(0);
  private long sent;
  private long rounds;

  ReactiveActive(ConnectionAddress address, ByteBuffer block, RemoteBlock target) {
    given = block;
    this.target =
        new RemoteMemory(
            target.address(),
            Job.BLOCK,
            target.key(),
            EnumSet.of(RemoteMemory.Right.READ, RemoteMemory.Right.WRITE));
    transport = RdmaTransport.create(ReactivePassive.options(PollMode.BUSY));
    try {
      connection = ReactivePassive.present(transport.connect(address.uri()).block(Limits.CONNECT));
      this.block = connection.memory().allocator().directBuffer(Job.BLOCK, Job.BLOCK);
      this.block.writeBytes(block.duplicate().clear());
    } catch (RuntimeException e) {
      transport.dispose();
      throw e;
    }
  }

  @Override
  public void ping(int rounds, RoundTrips times) {
    this.times = times;
    this.rounds = rounds;
    sent = 0;
    connection
        .send(
            Flux.concat(
                Mono.fromSupplier(this::first),
                connection.receive().take(rounds).handle(this::next)))
        .block(Limits.JOB);
  }

  private ByteBuf first() {
    times.begin();
    return message();
  }

  private ByteBuf message() {
    return connection
        .memory()
        .allocator()
        .directBuffer(Job.MESSAGE, Job.MESSAGE)
        .writeLong(sent++)
        .writeZero(Job.MESSAGE - Long.BYTES);
  }

  private void next(ByteBuf answer, SynchronousSink<ByteBuf> sink) {
    try {
      Messages.checkLength(answer.readableBytes());
      Messages.expect(sent - 1, answer.getLong(answer.readerIndex()));
    } finally {
      answer.release();
    }
    times.round();
    if (sent < rounds) {
      sink.next(message());
    }
  }

  @Override
  public void read(int rounds, RoundTrips times) {
    RemoteMemory from = target.slice(0, Job.MESSAGE);
    ByteBuf into = connection.memory().allocator().directBuffer(Job.MESSAGE, Job.MESSAGE);
    times.begin();
    Flux.range(0, rounds)
        .concatMap(number -> connection.read(from, into.clear()).doOnSuccess(done -> times.round()))
        .then()
        .block(Limits.JOB);
    given.put(0, into.nioBuffer(), 0, Job.MESSAGE);
    into.release();
  }

  @Override
  public void write(int count, int length) {
    ByteBuf data = block.slice(0, length);
    Flux.range(0, count)
        .flatMap(number -> connection.write(data.retain(), target), Job.DEPTH)
        .then()
        .block(Limits.JOB);
  }

  @Override
  public void close() {
    block.release();
    transport.dispose();
  }
}
