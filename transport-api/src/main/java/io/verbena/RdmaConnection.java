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
 * <p>Threading: its methods may be called and its publishers subscribed to from any thread; every
 * signal comes from the connection's completion loop, which must not be blocked. Three come from
 * elsewhere: an operation that cannot be begun, as its buffer cannot be used or too many wait,
 * fails on the thread that subscribes; so do the pieces of an empty region complete; and where a
 * subscriber blocks the loop, what passes its deadline fails on a thread of {@code
 * Schedulers.boundedElastic()}. Every operation ends once: with its value, with a typed {@link
 * RdmaException}, or by cancellation.
 */
public interface RdmaConnection extends Disposable {

  /** Returns a human-readable peer address, for logs. */
  String peer();

  /**
   * Returns what carries it, the scheme of a provider: {@code emulated}, {@code shm}, {@code
   * disni}, {@code verbs}, {@code roce}. An address {@code rdma://host:port} leaves it to both
   * ends.
   */
  String medium();

  /** Returns the registered memory that its one-sided operations use. */
  RdmaMemory memory();

  /**
   * Sends messages, in the order in which they come; several sends at once take turns message by
   * message. The peer's credits decide how many are requested of {@code messages}.
   *
   * <p>Each buffer is taken over and released once, also on an error or a cancellation. Registered
   * memory above {@link RdmaOptions#eagerSize} is not copied.
   *
   * @return completes when the peer's HCA has all of them; an error of {@code messages} is passed
   *     on and leaves the connection open; a peer that closes and receives no more fails it
   */
  Mono<Void> send(Publisher<? extends ByteBuf> messages);

  /**
   * Returns the peer's messages, for one subscriber at a time. Each buffer belongs to the
   * subscriber, who releases it. Demand becomes the peer's credit. Cancelling keeps what was not
   * delivered for the next subscriber.
   *
   * @return completes when the peer closed gracefully and all was delivered; errors when the
   *     connection was lost
   */
  Flux<ByteBuf> receive();

  /**
   * Reads the peer's memory into registered memory.
   *
   * @return a buffer with {@code from.length()} bytes, which belongs to the subscriber
   */
  Mono<ByteBuf> read(RemoteMemory from);

  /**
   * Reads the peer's memory into a direct buffer. The HCA writes into a buffer of {@link #memory},
   * and into any whose capacity is fixed, as that of a wrapped NIO buffer; others get a copy.
   *
   * @param from what to read
   * @param into gets the bytes at its writer index, which moves on success; it stays the caller's,
   *     is retained meanwhile, and needs {@code from.length()} writable bytes
   * @return fails with {@link LocalAccessException} if {@code into} has another writer index or
   *     other memory when the bytes are there, as a buffer has that grew: leave it alone until then
   */
  Mono<Void> read(RemoteMemory from, ByteBuf into);

  /**
   * Reads the peer's memory piece by piece; demand bounds what is in flight.
   *
   * @param from what to read, of any length
   * @param pieceLength bytes in each buffer but the last, 1 to 2147483583
   * @return the pieces in order; each belongs to the subscriber
   */
  Flux<ByteBuf> readPieces(RemoteMemory from, int pieceLength);

  /**
   * Writes into the peer's memory.
   *
   * @param data its readable bytes, no more than {@code to.length()}; taken over and released once
   * @param to where they go, from its start
   */
  Mono<Void> write(ByteBuf data, RemoteMemory to);

  /**
   * As {@link #write}, and then sends the immediate: the peer sees the bytes before it, and those
   * of all writes of this connection that were begun before. They begin in the order in which one
   * thread subscribes to them. While the peer asks for no immediates, READs, WRITEs and atomics
   * that begin later go past it.
   */
  Mono<Void> writeWithImmediate(ByteBuf data, RemoteMemory to, int immediate);

  /**
   * Returns the immediates of the peer's {@link #writeWithImmediate}, for one subscriber at a time.
   */
  Flux<Immediate> immediates();

  /**
   * Compares 8 aligned bytes of the peer's memory, and swaps them if they are as expected.
   *
   * @return what was there before
   */
  Mono<Long> compareAndSwap(RemoteMemory at, long expected, long swap);

  /**
   * Adds to 8 aligned bytes of the peer's memory.
   *
   * @return what was there before
   */
  Mono<Long> fetchAndAdd(RemoteMemory at, long addend);

  /**
   * Closes gracefully: takes no new operation and no further piece of {@link #readPieces}, waits,
   * within {@link RdmaOptions#closeTimeout}, for those of both ends that were begun before, and
   * disconnects. Subscribing again does nothing new.
   *
   * <p>While a subscriber of {@link #receive} is there, it still gets all that the peer sends,
   * which must come to an end: the peer learns of the close by {@link #onPeerClosing}. Once there
   * is none and this end's operations are done, what the peer sends is dropped, and its sends that
   * are not complete fail with {@link ConnectionClosedException}. So to leave a stream without end,
   * cancel its subscription and close.
   */
  Mono<Void> close();

  /**
   * Completes when the peer has begun to close and sends no more messages: it waits for this end to
   * do what it has begun. A stream without end goes well with it: {@code
   * send(ticks.takeUntilOther(onPeerClosing()))}.
   *
   * @return completes also when the connection has ended in another way; never errors
   */
  Mono<Void> onPeerClosing();

  /** Disconnects now; what is pending fails with {@link ConnectionClosedException}. Idempotent. */
  @Override
  void dispose();

  /**
   * Completes once the connection is closed and everything of it was freed; errors if it was lost.
   */
  Mono<Void> onClose();

  /**
   * A peer's notice that it has written.
   *
   * @param value the 32 bits that it chose
   * @param length the bytes that it wrote
   */
  record Immediate(int value, int length) {}
}
