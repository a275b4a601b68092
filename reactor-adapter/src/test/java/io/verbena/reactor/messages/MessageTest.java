// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.verbena.RdmaConnection;
import io.verbena.RemoteRequestException;
import io.verbena.core.testing.Addresses;
import io.verbena.reactor.testing.Ends;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

@Tag("moves-data")
class MessageTest {

  @ParameterizedTest
  @ValueSource(
      ints = {0, 1, 7, 8, 63, 1023, 1024, 4096, 8191, 8192, 8193, 65_536, 1_000_003, 20 << 20})
  void deliversAMessageOfAnySizeUnchanged(int size) {
    assumeFalse(
        Addresses.areLossy() && size > 2_000_000,
        "fifty packets are lost, and rxe waits out its timeout for many");
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      Mono<byte[]> received = pair.server().receive().next().map(Ends::take);
      CompletableFuture<byte[]> result = received.toFuture();

      pair.client()
          .send(Mono.fromSupplier(() -> Ends.message(pair.client(), size, size)))
          .block(Ends.LIMIT);

      assertThat(result).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(size, size));
    }
  }

  @ParameterizedTest
  @CsvSource({"1000, 2000, RdmaOptions.maxMessageSize", "2000, 1000, the peer's maxMessageSize"})
  void refusesAMessageThatIsTooLongForOneOfTheEnds(int own, int peers, String limit) {
    try (Ends ends =
        Ends.create(Ends.options().maxMessageSize(peers), Ends.options().maxMessageSize(own))) {
      RdmaConnection client = ends.connect().client();
      ByteBuf message = Ends.message(client, 1001, 1);

      assertThatThrownBy(() -> client.send(Mono.just(message)).block(Ends.LIMIT))
          .isInstanceOf(RemoteRequestException.class)
          .hasMessageContaining("message length: 1001 (expected: <= 1000, " + limit + ")");
      assertThat(message.refCnt()).isZero();
      client.send(Mono.fromSupplier(() -> Ends.message(client, 1000, 1))).block(Ends.LIMIT);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 100, 5000, 100_000})
  void copiesMessagesFromTheHeap(int size) {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<byte[]> result = pair.server().receive().next().map(Ends::take).toFuture();
      ByteBuf message = Ends.fill(Unpooled.buffer(), size, 3);

      pair.client().send(Mono.just(message)).block(Ends.LIMIT);

      assertThat(result).succeedsWithin(Ends.LIMIT).isEqualTo(Ends.bytes(size, 3));
      assertThat(message.refCnt()).isZero();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 5000, 100_000})
  void takesCompositeAndForeignDirectBuffers(int size) {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      CompletableFuture<List<byte[]>> result =
          pair.server().receive().take(2).map(Ends::take).collectList().toFuture();
      ByteBuf composite =
          Unpooled.wrappedBuffer(
              Ends.fill(Unpooled.directBuffer(), size, 1), Ends.fill(Unpooled.buffer(), size, 2));
      ByteBuf direct = Ends.fill(Unpooled.directBuffer(), size, 3);

      pair.client().send(Flux.just(composite, direct)).block(Ends.LIMIT);

      assertThat(result).succeedsWithin(Ends.LIMIT);
      assertThat(result.join().get(0)).hasSize(2 * size).startsWith(Ends.bytes(size, 1));
      assertThat(result.join().get(1)).isEqualTo(Ends.bytes(size, 3));
    }
  }

  @Test
  void keepsTheOrderOfMessagesOfMixedSizes() {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      int count = Addresses.rounds(3000);
      CompletableFuture<List<Integer>> result =
          pair.server()
              .receive()
              .take(count)
              .map(
                  message -> {
                    int number = message.getInt(0);
                    assertThat(message.readableBytes()).isEqualTo(size(number));
                    assertThat(message.getInt(message.readableBytes() - 4)).isEqualTo(number);
                    message.release();
                    return number;
                  })
              .collectList()
              .toFuture();

      pair.client()
          .send(
              Flux.range(0, count)
                  .map(
                      number -> {
                        ByteBuf message =
                            pair.client().memory().allocator().directBuffer(size(number));
                        message.writerIndex(size(number));
                        return message.setInt(0, number).setInt(size(number) - 4, number);
                      }))
          .block(Ends.LIMIT);

      assertThat(result)
          .succeedsWithin(Ends.LIMIT)
          .isEqualTo(Flux.range(0, count).collectList().block());
    }
  }

  private static int size(int number) {
    return number % 7 == 0 ? 20_000 : number % 5 == 0 ? 2_000 : 8 + number % 300;
  }

  @Test
  void echoesBothWaysAtOnce() throws Exception {
    try (Ends ends = Ends.create()) {
      Ends.Pair pair = ends.connect();
      pair.server().send(pair.server().receive()).subscribe();
      int count = Addresses.rounds(20_000);
      CompletableFuture<Long> result =
          pair.client()
              .receive()
              .take(count)
              .map(
                  message -> {
                    long number = message.getLong(0);
                    message.release();
                    return number;
                  })
              .reduce(0L, Long::sum)
              .toFuture();

      pair.client()
          .send(
              Flux.range(0, count)
                  .map(n -> pair.client().memory().allocator().directBuffer(64).writeLong(n)))
          .block(Ends.LIMIT);

      assertThat(result.get(Ends.LIMIT.toSeconds(), TimeUnit.SECONDS))
          .isEqualTo((long) count * (count - 1) / 2);
    }
  }
}
