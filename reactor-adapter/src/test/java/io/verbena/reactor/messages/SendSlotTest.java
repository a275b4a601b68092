// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaMemory;
import io.verbena.RdmaOptions;
import io.verbena.RemoteMemory;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Tests long messages and one-sided operations that take slots of one send queue. */
@Tag("moves-data")
class SendSlotTest {
  private static final int ROUNDS = 200;
  private static final int LONG = 100_000;
  private static final int FRAME = 7 << 10;
  private static final int READS = 50;

  @Test
  void oneSidedOperationsGoOnBesideAStreamOfMessages() {
    RdmaOptions.Builder options =
        Ends.options().sendDepth(4).operationTimeout(Addresses.within(Duration.ofSeconds(10)));
    try (Ends ends = Ends.create(options)) {
      Ends.Pair pair = ends.connect();
      RdmaMemory.Region region = readable(pair);
      RemoteMemory token = region.token();
      AtomicLong received = new AtomicLong();
      Disposable receives =
          pair.server()
              .receive()
              .subscribe(
                  message -> {
                    message.release();
                    received.incrementAndGet();
                  });
      Disposable sent =
          pair.client()
              .send(
                  Flux.<ByteBuf, Long>generate(
                      () -> 0L,
                      (n, sink) -> {
                        sink.next(Ends.message(pair.client(), FRAME, n));
                        return n + 1;
                      }))
              .subscribe();
      await().atMost(Ends.LIMIT).until(() -> received.get() > 100);

      for (int read = 0; read < READS; read++) {
        pair.client().read(token).doOnNext(ByteBuf::release).block(Ends.LIMIT);
      }

      long before = received.get();
      await().atMost(Ends.LIMIT).until(() -> received.get() > before + 100);
      sent.dispose();
      receives.dispose();
      region.close();
    }
  }

  @Test
  void aReadGoesBeforeTheNoticesThatWereBegunAfterIt() {
    try (Ends ends = Ends.create(Ends.options().sendDepth(4))) {
      Ends.Pair pair = ends.connect();
      RdmaMemory.Region region = readable(pair);
      RemoteMemory from = region.token();
      RdmaMemory.Region target =
          pair.server()
              .memory()
              .register(ByteBuffer.allocateDirect(8), Set.of(RemoteMemory.Right.WRITE));
      RemoteMemory to = target.token();

      // Started on the loop, so that no slot becomes free before all have begun.
      List<Integer> done =
          pair.client()
              .read(from)
              .doOnNext(ByteBuf::release)
              .flatMapMany(first -> Flux.range(0, 5))
              .flatMap(
                  i ->
                      (i == 3
                              ? pair.client().read(from).doOnNext(ByteBuf::release).then()
                              : pair.client().writeWithImmediate(Unpooled.EMPTY_BUFFER, to, i))
                          .thenReturn(i),
                  5)
              .collectList()
              .block(Ends.LIMIT);

      assertThat(done).containsSubsequence(3, 4);
      region.close();
      target.close();
    }
  }

  @Test
  void messagesGoOnBesideAStreamOfOneSidedOperations() {
    RdmaOptions.Builder options = Ends.options().sendDepth(4);
    try (Ends ends = Ends.create(options)) {
      Ends.Pair pair = ends.connect();
      RdmaMemory.Region region = readable(pair);
      RemoteMemory token = region.token();
      Disposable reads =
          Flux.<Mono<ByteBuf>>generate(sink -> sink.next(pair.client().read(token)))
              .flatMap(read -> read.doOnNext(ByteBuf::release), 8)
              .subscribe();

      Mono<Void> sent =
          pair.client().send(Flux.range(0, ROUNDS).map(n -> Ends.message(pair.client(), FRAME, n)));
      Mono<Void> received = pair.server().receive().take(ROUNDS).doOnNext(ByteBuf::release).then();
      Mono.when(sent, received).block(Ends.LIMIT);

      reads.dispose();
      region.close();
    }
  }

  @Test
  void aLongMessageTakesTheSlotThatAOneSidedOperationLeaves() {
    RdmaOptions.Builder options = Ends.options().sendDepth(4);
    try (Ends ends = Ends.create(options)) {
      Ends.Pair pair = ends.connect();
      RdmaMemory.Region region = readable(pair);
      RemoteMemory token = region.token();
      for (int round = 0; round < ROUNDS; round++) {
        ByteBuf message = Ends.message(pair.server(), LONG, round);
        Disposable sent = pair.server().send(Mono.just(message)).subscribe();
        // These reads fill the send queue while the announcement of the message arrives.
        Mono<Void> reads =
            Flux.range(0, 2)
                .flatMap(each -> pair.client().read(token).doOnNext(ByteBuf::release))
                .then();
        byte[] received =
            Mono.zip(pair.client().receive().next().map(Ends::take), reads.thenReturn(true))
                .blockOptional(Ends.LIMIT)
                .orElseThrow()
                .getT1();
        assertThat(received).isEqualTo(Ends.bytes(LONG, round));
        sent.dispose();
      }
      region.close();
    }
  }

  private static RdmaMemory.Region readable(Ends.Pair pair) {
    return pair.server()
        .memory()
        .register(ByteBuffer.allocateDirect(LONG), Set.of(RemoteMemory.Right.READ));
  }
}
