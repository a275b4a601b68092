// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.streams;

import io.netty.buffer.ByteBuf;
import io.verbena.RdmaConnection;
import io.verbena.reactor.testing.Ends;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/** Tests {@link RdmaConnection#receive}; the peer closes after the last message. */
public final class ReceiveVerification extends ConnectionVerification<Integer> {
  private static final int LENGTH = 8;

  @Override
  public Publisher<Integer> createPublisher(long elements) {
    Ends.Pair pair = ends.connect();
    RdmaConnection sender = pair.server();
    sender.send(messages(sender, elements)).then(sender.close()).onErrorComplete().subscribe();
    return new Released(pair.client().receive());
  }

  private static Flux<ByteBuf> messages(RdmaConnection sender, long count) {
    return Flux.<ByteBuf, Long>generate(
        () -> 0L,
        (sent, sink) -> {
          if (sent == count) {
            sink.complete();
          } else {
            sink.next(Ends.message(sender, LENGTH, sent));
          }
          return sent + 1;
        });
  }

  @Override
  public Publisher<Integer> createFailedPublisher() {
    Ends.Pair pair = ends.connect();
    pair.client().dispose();
    pair.client().onClose().onErrorComplete().block(Ends.LIMIT);
    return new Released(pair.client().receive());
  }
}
