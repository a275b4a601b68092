// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.handler.codec.TooLongFrameException;
import io.verbena.MemoryLimitException;
import java.util.function.Supplier;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Turns one connection's requests into answers, one after the other. A message is created only when
 * the transport requests it, so no message waits in memory, and a cancellation leaves none behind.
 */
final class Answers {
  /** The longest message of a stream, in bytes. */
  static final int MAX_MESSAGE_LENGTH = 16 << 20;

  private final BlockCatalog catalog;
  private final StreamLog streams;
  private final OneSided oneSided;
  private final ByteBufAllocator allocator;

  Answers(BlockCatalog catalog, StreamLog streams, OneSided oneSided, ByteBufAllocator allocator) {
    this.catalog = catalog;
    this.streams = streams;
    this.oneSided = oneSided;
    this.allocator = allocator;
  }

  /**
   * Returns the answers to these requests, and releases the requests. Refuses a request that it
   * cannot serve and goes on; after a message that is too long it refuses and ends.
   */
  Flux<ByteBuf> to(Flux<ByteBuf> requests) {
    return requests
        .map(this::answer)
        .onErrorResume(
            TooLongFrameException.class,
            e ->
                Mono.just(
                    just(new Reply.Refused(ErrorCode.MALFORMED, String.valueOf(e.getMessage())))))
        .concatMap(answer -> answer)
        .map(Supplier::get);
  }

  private Publisher<Supplier<ByteBuf>> answer(ByteBuf message) {
    try {
      return answer(BlockProtocol.decodeRequest(message));
    } catch (ProtocolException e) {
      return just(new Reply.Refused(ErrorCode.MALFORMED, String.valueOf(e.getMessage())));
    } catch (RefusedException e) {
      return just(refused(e));
    } finally {
      message.release();
    }
  }

  private Publisher<Supplier<ByteBuf>> answer(Request request) {
    if (request instanceof Request.ListBlocks) {
      return just(new Reply.Listing(catalog.list()));
    } else if (request instanceof Request.StatBlock stat) {
      return just(new Reply.Status(catalog.get(stat.name()).info()));
    } else if (request instanceof Request.LocateBlock locate) {
      return later(oneSided.locate(catalog.get(locate.name())));
    } else if (request instanceof Request.LocateTickets) {
      return later(oneSided.locateTickets());
    } else if (request instanceof Request.ReserveBlock reserve) {
      catalog.checkRoomFor(reserve.block().name());
      return later(oneSided.reserve(reserve.block()));
    } else if (request instanceof Request.StreamBlock stream) {
      return stream(catalog.get(stream.name()), stream.messageLength());
    }
    throw new AssertionError(request);
  }

  private Flux<Supplier<ByteBuf>> stream(Block block, int messageLength) {
    if (messageLength < 1 || messageLength > MAX_MESSAGE_LENGTH) {
      throw new RefusedException(
          ErrorCode.BAD_LENGTH,
          "message length: " + messageLength + " (expected: 1.." + MAX_MESSAGE_LENGTH + ")");
    }
    return Flux.defer(
        () -> {
          int stream = streams.begin();
          int messages = block.messages(messageLength);
          Flux<Supplier<ByteBuf>> content =
              Flux.range(0, messages)
                  .map(
                      index ->
                          () -> {
                            streams.count(stream);
                            return block.message(index, messageLength);
                          });
          return content
              .startWith(supply(new Reply.Streaming(stream, messages, block.info().length())))
              .doFinally(signal -> streams.end(stream));
        });
  }

  private Mono<Supplier<ByteBuf>> later(Mono<Reply> reply) {
    return reply
        .onErrorResume(RefusedException.class, e -> Mono.just(refused(e)))
        .onErrorResume(
            MemoryLimitException.class,
            e -> Mono.just(new Reply.Refused(ErrorCode.NO_SPACE, String.valueOf(e.getMessage()))))
        .map(this::supply);
  }

  private Mono<Supplier<ByteBuf>> just(Reply reply) {
    return Mono.just(supply(reply));
  }

  private Supplier<ByteBuf> supply(Reply reply) {
    return () -> BlockProtocol.encode(reply, allocator);
  }

  static Reply.Refused refused(RefusedException e) {
    return new Reply.Refused(e.refusal(), e.reason());
  }
}
