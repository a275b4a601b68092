// SPDX-License-Identifier: Apache-2.0
package io.verbena.reactor.messages;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.util.IllegalReferenceCountException;
import io.verbena.LocalAccessException;
import io.verbena.RdmaMemory;
import io.verbena.RemoteMemory.Right;
import io.verbena.reactor.testing.Ends;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Tests user code that releases buffers it has handed to an operation: only that operation fails.
 */
class ReleasedBufferTest {
  private static final int WINDOW = 16;
  private static final int DEPTH = 4;

  private final Ends ends = Ends.create(Ends.options().window(WINDOW).receiveDepth(DEPTH));
  private final Ends.Pair pair = ends.connect();
  private final CompletableFuture<Long> received =
      pair.server().receive().doOnNext(ByteBuf::release).count().toFuture();

  @AfterEach
  void laterSendsGoOn() {
    // Each send takes a credit, and there are half as many: this blocks if a credit was lost.
    for (int i = 0; i < 2 * WINDOW; i++) {
      pair.client().send(Mono.just(Ends.message(pair.client(), 100, i))).block(Ends.LIMIT);
    }
    pair.client().close().block(Ends.LIMIT);
    assertThat(received).succeedsWithin(Ends.LIMIT);
    ends.close();
  }

  private ByteBuf released(int length, boolean heap) {
    ByteBuf message =
        heap
            ? Ends.fill(Unpooled.buffer(length), length, 1)
            : Ends.message(pair.client(), length, 1);
    message.release();
    return message;
  }

  @ParameterizedTest
  @CsvSource({"1, true", "1, false", "4000, true", "4000, false", "100000, true", "100000, false"})
  void failsItsSendAndNamesItsPosition(int length, boolean heap) {
    for (int i = 0; i < 2 * WINDOW; i++) {
      assertThatThrownBy(
              () ->
                  pair.client()
                      .send(Flux.just(Ends.message(pair.client(), 8, 1), released(length, heap)))
                      .block(Ends.LIMIT))
          .isInstanceOf(IllegalReferenceCountException.class)
          .hasMessageContaining("message 1 of it");
    }
    assertThat(pair.client().isDisposed()).isFalse();
  }

  @Test
  void failsItsSendAlsoIfItWaitedForAPlace() {
    // These are more messages than receives, so most of them wait in the send.
    List<ByteBuf> messages = new ArrayList<>();
    for (int i = 0; i < WINDOW; i++) {
      messages.add(Ends.message(pair.client(), 4000, i));
    }
    Mono<Void> sent =
        pair.client()
            .send(
                Flux.range(0, WINDOW)
                    .map(
                        i -> {
                          if (i == WINDOW - 1) {
                            messages.get(10).release();
                          }
                          return messages.get(i);
                        }));

    assertThatThrownBy(() -> sent.block(Ends.LIMIT))
        .isInstanceOf(IllegalReferenceCountException.class)
        .hasMessageContaining("message 10 of it");
    assertThat(messages.get(WINDOW - 1).refCnt()).isZero();
    assertThat(pair.client().isDisposed()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 8, 4000})
  void failsItsWriteAlone(int length) {
    RdmaMemory.Region region =
        pair.server().memory().register(ByteBuffer.allocateDirect(4096), Set.of(Right.WRITE));
    ByteBuf data = Ends.message(pair.client(), length, 1);
    data.release();

    assertThatThrownBy(
            () -> pair.client().write(data, region.token().slice(0, length)).block(Ends.LIMIT))
        .isInstanceOf(LocalAccessException.class);

    assertThat(pair.client().isDisposed()).isFalse();
    region.close();
  }
}
