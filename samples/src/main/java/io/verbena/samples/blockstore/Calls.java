// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.blockstore;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import java.util.function.Function;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Requests and their replies over a connection's messages, one at a time. */
final class Calls {
  private final Function<Publisher<ByteBuf>, Mono<Void>> send;
  private final Flux<ByteBuf> receive;
  private final ByteBufAllocator allocator;

  Calls(
      Function<Publisher<ByteBuf>, Mono<Void>> send,
      Flux<ByteBuf> receive,
      ByteBufAllocator allocator) {
    this.send = send;
    this.receive = receive;
    this.allocator = allocator;
  }

  /** Sends a request, and then takes one message, which must be a reply of this type. */
  <T extends Reply> Mono<T> call(Request request, Class<T> type) {
    return send.apply(Mono.fromSupplier(() -> BlockProtocol.encode(request, allocator)))
        .then(reply(type));
  }

  /** Takes one message, which must be a reply of this type. */
  <T extends Reply> Mono<T> reply(Class<T> type) {
    return receive
        .take(1)
        .map(message -> decode(message, type))
        .next()
        .switchIfEmpty(
            Mono.error(
                () -> new ProtocolException("connection closed (expected: " + name(type) + ")")));
  }

  /** Asks for a block as messages; they are taken when the stream's content is subscribed to. */
  Mono<BlockStream> stream(String name, int messageLength) {
    return call(new Request.StreamBlock(name, messageLength), Reply.Streaming.class)
        .map(
            begun ->
                new BlockStream(
                    begun.stream(),
                    begun.messages(),
                    begun.length(),
                    receive.take(begun.messages())));
  }

  private static <T extends Reply> T decode(ByteBuf message, Class<T> type) {
    try {
      Reply reply = BlockProtocol.decodeReply(message);
      if (reply instanceof Reply.Refused refused) {
        throw new RefusedException(refused.refusal(), refused.reason());
      }
      if (!type.isInstance(reply)) {
        throw new ProtocolException(name(reply.getClass()) + " (expected: " + name(type) + ")");
      }
      return type.cast(reply);
    } finally {
      message.release();
    }
  }

  private static String name(Class<?> type) {
    return type.getSimpleName();
  }
}
