// SPDX-License-Identifier: Apache-2.0
package io.verbena;

import io.netty.buffer.ByteBuf;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A reliable connection to a peer: messages both ways, one-sided operations on the peer's memory.
 *
 * <p>Threading: any thread may call the methods and subscribe to the publishers. All signals come
 * from the connection's completion loop, which must not be blocked, with three exceptions. An
 * operation that cannot begin, because its buffer is unusable or too many operations wait, fails on
 * the subscribing thread. {@link #readPieces} of an empty region completes on the subscribing
 * thread. If a subscriber blocks the loop, operations past their deadline fail on a thread of
 * {@code Schedulers.boundedElastic()}. Every operation ends once: with its value, with a typed
 * {@link RdmaException}, or by cancellation.
 */
public interface RdmaConnection extends Disposable {

  /** Returns a human-readable peer address, for logs. */
  String peer();

  /**
   * Returns the scheme of the provider that carries the connection: {@code emulated}, {@code shm},
   * {@code disni}, {@code verbs}, {@code iwarp}, {@code roce}. For an address {@code
   * rdma://host:port} the two ends choose the provider.
   */
  String medium();

  /** Returns the registered memory that the connection's one-sided operations use. */
  RdmaMemory memory();

  /**
   * Sends messages in their order; concurrent sends take turns, message by message. The peer's
   * credits limit the demand on {@code messages}.
   *
   * <p>The connection takes over each buffer and releases it once, also on an error or a
   * cancellation. A message in registered memory that is longer than {@link RdmaOptions#eagerSize}
   * is not copied.
   *
   * @return completes when the peer's HCA has all messages; fails with the error of {@code
   *     messages}, which leaves the connection open, or if the peer closes and receives no more
   */
  Mono<Void> send(Publisher<? extends ByteBuf> messages);

  /**
   * Returns the peer's messages, for one subscriber at a time. Each buffer belongs to the
   * subscriber, who releases it. The subscriber's demand becomes the peer's credits. Messages that
   * a cancelled subscriber did not get go to the next one.
   *
   * @return completes when the peer has closed gracefully and all messages are delivered; errors
   *     when the connection is lost
   */
  Flux<ByteBuf> receive();

  /**
   * Reads the peer's memory into registered memory.
   *
   * @return a buffer with {@code from.length()} bytes, which belongs to the subscriber
   */
  Mono<ByteBuf> read(RemoteMemory from);

  /**
   * Reads the peer's memory into a direct buffer. The HCA writes directly into buffers of {@link
   * #memory} and buffers of fixed capacity, such as a wrapped NIO buffer; into other buffers the
   * bytes are copied.
   *
   * @param from the memory to read
   * @param into gets the bytes at its writer index, which moves on success; needs {@code
   *     from.length()} writable bytes; stays the caller's and is retained until the operation ends
   * @return fails with {@link LocalAccessException} if the writer index or the memory of {@code
   *     into} has changed when the bytes arrive, for example because it grew; do not touch {@code
   *     into} before
   */
  Mono<Void> read(RemoteMemory from, ByteBuf into);

  /**
   * Reads the peer's memory piece by piece; the subscriber's demand limits the pieces in flight.
   *
   * @param from the memory to read, of any length
   * @param pieceLength bytes in each buffer but the last, 1 to 2147483583
   * @return the pieces in order; each belongs to the subscriber
   */
  Flux<ByteBuf> readPieces(RemoteMemory from, int pieceLength);

  /**
   * Writes into the peer's memory.
   *
   * @param data the buffer whose readable bytes are written, at most {@code to.length()}; taken
   *     over and released once
   * @param to the memory to write, from its start
   */
  Mono<Void> write(ByteBuf data, RemoteMemory to);

  /**
   * Writes as {@link #write} does, then sends the immediate. Before the peer sees the immediate, it
   * sees these bytes and those of all writes of this connection that began earlier. Operations that
   * one thread subscribes to begin in that order. While the peer requests no immediates, READs,
   * WRITEs and atomics that begin later overtake this operation.
   */
  Mono<Void> writeWithImmediate(ByteBuf data, RemoteMemory to, int immediate);

  /**
   * Returns the immediates of the peer's {@link #writeWithImmediate}, for one subscriber at a time.
   */
  Flux<Immediate> immediates();

  /**
   * Compares 8 aligned bytes of the peer's memory with {@code expected}, and replaces them by
   * {@code swap} if they are equal.
   *
   * @return the value from before
   */
  Mono<Long> compareAndSwap(RemoteMemory at, long expected, long swap);

  /**
   * Adds {@code addend} to 8 aligned bytes of the peer's memory.
   *
   * @return the value from before
   */
  Mono<Long> fetchAndAdd(RemoteMemory at, long addend);

  /**
   * Closes gracefully: begins no new operation and no further piece of {@link #readPieces}, waits
   * up to {@link RdmaOptions#closeTimeout} for the operations that both ends have begun, and
   * disconnects. Subscribing again does nothing new.
   *
   * <p>A subscriber of {@link #receive} still gets all messages that the peer sends; the peer must
   * end its sends, and learns of the close by {@link #onPeerClosing}. Once there is no subscriber
   * and this end's operations are done, messages of the peer are dropped, and its incomplete sends
   * fail with {@link ConnectionClosedException}. To leave an endless stream, cancel its
   * subscription, then close.
   */
  Mono<Void> close();

  /**
   * Completes when the peer has begun to close: the peer sends no more messages, and waits for the
   * operations that this end has begun. It can end an endless stream: {@code
   * send(ticks.takeUntilOther(onPeerClosing()))}.
   *
   * @return completes also when the connection ends in another way; never errors
   */
  Mono<Void> onPeerClosing();

  /**
   * Disconnects now; pending operations fail with {@link ConnectionClosedException}. Idempotent.
   */
  @Override
  void dispose();

  /**
   * Completes once the connection is closed and its resources are freed; errors if the connection
   * was lost.
   */
  Mono<Void> onClose();

  /**
   * A peer's notice that it has written.
   *
   * @param value the 32 bits that the peer chose
   * @param length the number of bytes that the peer wrote
   */
  record Immediate(int value, int length) {}
}
