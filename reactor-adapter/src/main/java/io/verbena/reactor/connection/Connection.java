// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.connection;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.RdmaException;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory;
import io.verbena.reactor.onesided.OneSidedOperations;
import io.verbena.reactor.send.MessageSender;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A connection, as users see it. Thread-safe; delegates each call to the part that does it. */
public final class Connection implements RdmaConnection {
  private final ConnectionLifecycle life;
  private final String medium;
  private final String peer;
  private final RdmaMemory memory;
  private final MessageSender sender;
  private final OneSidedOperations operations;
  private final Flux<ByteBuf> messages;
  private final Flux<Immediate> immediates;

  Connection(
      ConnectionLifecycle life,
      String medium,
      String peer,
      RdmaMemory memory,
      MessageSender sender,
      OneSidedOperations operations,
      Flux<ByteBuf> messages,
      Flux<Immediate> immediates) {
    this.life = life;
    this.medium = medium;
    this.peer = peer;
    this.memory = memory;
    this.sender = sender;
    this.operations = operations;
    this.messages = messages;
    this.immediates = immediates;
  }

  @Override
  public String peer() {
    return peer;
  }

  @Override
  public String medium() {
    return medium;
  }

  @Override
  public RdmaMemory memory() {
    return memory;
  }

  @Override
  public Mono<Void> send(Publisher<? extends ByteBuf> publisher) {
    return sender.send(requireNonNull(publisher, "messages"));
  }

  @Override
  public Flux<ByteBuf> receive() {
    return messages;
  }

  @Override
  public Mono<ByteBuf> read(RemoteMemory from) {
    return operations.read(from);
  }

  @Override
  public Mono<Void> read(RemoteMemory from, ByteBuf into) {
    return operations.read(from, into);
  }

  @Override
  public Flux<ByteBuf> readPieces(RemoteMemory from, int pieceLength) {
    return operations.readPieces(from, pieceLength);
  }

  @Override
  public Mono<Void> write(ByteBuf data, RemoteMemory to) {
    return operations.write(data, to);
  }

  @Override
  public Mono<Void> writeWithImmediate(ByteBuf data, RemoteMemory to, int immediate) {
    return operations.writeWithImmediate(data, to, immediate);
  }

  @Override
  public Flux<Immediate> immediates() {
    return immediates;
  }

  @Override
  public Mono<Long> compareAndSwap(RemoteMemory at, long expected, long swap) {
    return operations.compareAndSwap(at, expected, swap);
  }

  @Override
  public Mono<Long> fetchAndAdd(RemoteMemory at, long addend) {
    return operations.fetchAndAdd(at, addend);
  }

  @Override
  public Mono<Void> close() {
    return life.close();
  }

  @Override
  public Mono<Void> onPeerClosing() {
    return life.onPeerClosing();
  }

  @Override
  public Mono<Void> onClose() {
    return life.onClose();
  }

  /** Returns whether the peer has begun to close; on the loop. */
  public boolean isClosedByPeer() {
    return life.isClosedByPeer();
  }

  @Override
  public void dispose() {
    life.dispose();
  }

  @Override
  public boolean isDisposed() {
    return life.isOver();
  }

  /**
   * Ends the connection for a reason outside of it, without a graceful close; from any thread.
   *
   * @param why the failure, or null if the end was requested
   */
  public void abort(@Nullable RdmaException why) {
    life.abort(why);
  }
}
