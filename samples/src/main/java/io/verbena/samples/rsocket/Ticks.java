// SPDX-License-Identifier: Apache-2.0
package io.verbena.samples.rsocket;

import io.rsocket.ConnectionSetupPayload;
import io.rsocket.Payload;
import io.rsocket.RSocket;
import io.rsocket.SocketAcceptor;
import io.rsocket.util.DefaultPayload;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Serves ticks, which are numbers from 0: as many as the request says, each made when the
 * subscriber requests it. Thread-safe; a program that runs both ends can read its progress.
 */
final class Ticks implements SocketAcceptor {
  private final AtomicLong made = new AtomicLong();

  /** Encodes a number: of a tick, or of ticks in a request. */
  static Payload payload(long number) {
    return DefaultPayload.create(ByteBuffer.allocate(Long.BYTES).putLong(0, number));
  }

  /** Returns the number in a payload, and releases the payload. */
  static long number(Payload payload) {
    try {
      return payload.data().readLong();
    } finally {
      payload.release();
    }
  }

  /** Ticks of the latest request that were made. */
  long made() {
    return made.get();
  }

  @Override
  public Mono<RSocket> accept(ConnectionSetupPayload setup, RSocket client) {
    return Mono.just(
        new RSocket() {
          @Override
          public Flux<Payload> requestStream(Payload request) {
            return ticks(number(request));
          }
        });
  }

  private Flux<Payload> ticks(long count) {
    made.set(0);
    return Flux.<Payload, Long>generate(
        () -> 0L,
        (number, sink) -> {
          if (number == count) {
            sink.complete();
          } else {
            made.incrementAndGet();
            sink.next(payload(number));
          }
          return number + 1;
        });
  }
}
